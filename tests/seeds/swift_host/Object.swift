// A Python object as a Swift value: references, members, items, calls, operators, errors, iteration.
// SPDX-License-Identifier: MIT
//
// Swift may drop a value right after its last use, before the C function that got its pointer returns. So the
// pointer is only seen inside `lend`, which keeps the reference for the length of a call.

/// One reference to a Python object. It is given back when the last Swift value that shares it goes.
final class Reference {
    fileprivate let pointer: Pointer

    /// For a function whose result is new: the reference is already ours.
    init(owned pointer: Pointer) { self.pointer = pointer }

    /// For a function that lends: a reference of our own is taken.
    init(borrowed pointer: Pointer) {
        C.take(pointer)
        self.pointer = pointer
    }

    /// Runs on the thread that drops the last value. Nothing asks here whether that thread holds the GIL.
    deinit { C.giveBack(pointer) }
}

@dynamicMemberLookup
@dynamicCallable
struct PythonObject {
    let reference: Reference

    init(_ reference: Reference) { self.reference = reference }

    /// The result of a C function that gives a new reference; the program ends where it gave an error.
    init(made pointer: Pointer?) {
        guard let pointer else { stop("Fatal error: Python exception: \(PythonError.fetched())") }
        self.init(Reference(owned: pointer))
    }

    func lend<Result>(_ body: (Pointer) -> Result) -> Result {
        withExtendedLifetime(reference) { body(reference.pointer) }
    }

    /// A reference more, for a C function that steals it.
    func givenAway() -> Pointer {
        lend { pointer in
            C.take(pointer)
            return pointer
        }
    }

    /// The reference count: the low 32 bits of the object's first word, on every CPython from 3.11 on.
    var references: UInt32 { lend { $0.load(as: UInt32.self) } }

    subscript(dynamicMember name: String) -> PythonObject {
        get { PythonObject(made: lend { C.getMember($0, name) }) }
        nonmutating set {
            let failed = lend { object in newValue.lend { C.setMember(object, name, $0) } } != 0
            if failed { stop("Fatal error: Python exception: \(PythonError.fetched())") }
        }
    }

    subscript(key: any ToPython) -> PythonObject {
        let key = key.python
        return PythonObject(made: lend { object in key.lend { C.getItem(object, $0) } })
    }

    subscript(range: Range<Int>) -> PythonObject {
        let (start, end) = (range.lowerBound.python, range.upperBound.python)
        return self[PythonObject(made: start.lend { start in end.lend { C.newSlice(start, $0, nil) } })]
    }

    /// The first two items of a tuple, which lends them.
    var pair: (PythonObject, PythonObject) {
        func item(_ index: Int) -> PythonObject {
            lend { tuple in
                guard let lent = C.tupleItem(tuple, index) else { stop("\(PythonError.fetched())") }
                return PythonObject(Reference(borrowed: lent))
            }
        }
        return (item(0), item(1))
    }

    func dynamicallyCall(withArguments arguments: [any ToPython]) -> PythonObject {
        do { return try throwing.dynamicallyCall(withArguments: arguments) } catch {
            stop("Fatal error: Python exception: \(error)")
        }
    }

    func dynamicallyCall(withKeywordArguments arguments: KeyValuePairs<String, any ToPython>) -> PythonObject {
        do { return try throwing.dynamicallyCall(withKeywordArguments: arguments) } catch {
            stop("Fatal error: Python exception: \(error)")
        }
    }

    /// The same object, whose calls throw a Swift error where Python raises an exception.
    var throwing: ThrowingObject { ThrowingObject(object: self) }

    static func + (left: PythonObject, right: PythonObject) -> PythonObject {
        PythonObject(made: left.lend { left in right.lend { C.add(left, $0) } })
    }

    static func += (left: inout PythonObject, right: PythonObject) { left = left + right }
}

@dynamicCallable
struct ThrowingObject {
    let object: PythonObject

    func dynamicallyCall(withArguments arguments: [any ToPython]) throws -> PythonObject {
        try call(arguments, nil)
    }

    func dynamicallyCall(withKeywordArguments arguments: KeyValuePairs<String, any ToPython>) throws -> PythonObject {
        let keywords = PythonObject(made: C.newDict())
        for (name, value) in arguments where !name.isEmpty {
            _ = keywords.lend { dict in value.python.lend { C.setKeyword(dict, name, $0) } }
        }
        return try call(arguments.filter(\.key.isEmpty).map(\.value), keywords)
    }

    private func call(_ arguments: [any ToPython], _ keywords: PythonObject?) throws -> PythonObject {
        let tuple = PythonObject(made: C.newTuple(arguments.count))
        for (index, argument) in arguments.enumerated() {
            _ = tuple.lend { C.setTupleItem($0, index, argument.python.givenAway()) }
        }
        let result = object.lend { callable in
            tuple.lend { tuple in
                guard let keywords else { return C.call(callable, tuple, nil) }
                return keywords.lend { C.call(callable, tuple, $0) }
            }
        }
        guard let result else { throw PythonError.fetched() }
        return PythonObject(Reference(owned: result))
    }
}

/// A Python exception as a Swift error.
struct PythonError: Error, CustomStringConvertible {
    let value: PythonObject

    /// The exception that is set, which is then set no more.
    static func fetched() -> PythonError {
        var (type, value, traceback): (Pointer?, Pointer?, Pointer?)
        C.fetchError(&type, &value, &traceback)
        C.normalizeError(&type, &value, &traceback)
        for unused in [type, traceback] { if let unused { C.giveBack(unused) } }
        guard let value else { stop("A C function failed without an exception") }
        return PythonError(value: PythonObject(Reference(owned: value)))
    }

    var description: String { value.description }
}

extension PythonObject: CustomStringConvertible {
    /// What `str` gives.
    var description: String { String(PythonObject(made: lend { C.text($0) })) ?? "?" }
}

extension PythonObject: Sequence {
    func makeIterator() -> AnyIterator<PythonObject> {
        let items = PythonObject(made: lend { C.iterator($0) })
        return AnyIterator { items.lend { C.next($0) }.map { PythonObject(Reference(owned: $0)) } }
    }
}
