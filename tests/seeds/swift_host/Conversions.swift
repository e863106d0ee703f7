// Swift values to Python, which always succeeds, and back, which gives nil where the value does not fit.
// SPDX-License-Identifier: MIT

protocol ToPython {
    var python: PythonObject { get }
}

protocol FromPython {
    init?(_ object: PythonObject)
}

extension PythonObject: ToPython {
    var python: PythonObject { self }
}

extension Int: ToPython, FromPython {
    var python: PythonObject { PythonObject(made: C.fromInt(self)) }

    init?(_ object: PythonObject) {
        let number = object.lend({ C.toInt($0) })
        if number == -1, failed() { return nil }
        self = number
    }
}

extension UInt {
    /// The lowest 64 bits of a whole number: no error tells that there were more, or a sign.
    init(wrapping object: PythonObject) { self = object.lend({ C.toUIntMask($0) }) }
}

extension Double: ToPython, FromPython {
    var python: PythonObject { PythonObject(made: C.fromDouble(self)) }

    init?(_ object: PythonObject) {
        let number = object.lend({ C.toDouble($0) })
        if number == -1, failed() { return nil }
        self = number
    }
}

extension String: ToPython, FromPython {
    var python: PythonObject {
        var copy = self
        return copy.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                PythonObject(made: C.fromText(characters.baseAddress!, characters.count))
            }
        }
    }

    /// Ends at the first NUL, as a C string does: no error tells that there was more.
    init?(_ object: PythonObject) {
        guard let copy = object.lend({ C.toText($0).map { String(cString: $0) } }) else {
            C.clearError()
            return nil
        }
        self = copy
    }
}

extension Array: ToPython where Element: ToPython {
    var python: PythonObject {
        let list = PythonObject(made: C.newList(count))
        for (index, item) in enumerated() {
            _ = list.lend { C.setListItem($0, index, item.python.givenAway()) }
        }
        return list
    }
}

extension Array: FromPython where Element: FromPython {
    /// All of the items, or nil.
    init?(_ object: PythonObject) {
        self.init()
        for item in object {
            guard let one = Element(item) else { return nil }
            append(one)
        }
    }
}

extension PythonObject: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    init(integerLiteral value: Int) { self = value.python }
    init(stringLiteral value: String) { self = value.python }
}

/// Whether an exception was set, which is cleared: nil tells the caller.
private func failed() -> Bool {
    guard C.error() != nil else { return false }
    C.clearError()
    return true
}
