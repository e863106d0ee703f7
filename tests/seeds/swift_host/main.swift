// Runs a Python inside this program: what it prints and asks is checked by test_swift_host.py.
// SPDX-License-Identifier: MIT
//
//     host LIBPYTHON [untrapped | unlocked | lost | stay]

import Glibc

@dynamicMemberLookup
struct Interpreter {
    func module(_ name: String) -> PythonObject { PythonObject(made: C.importModule(name)) }

    subscript(dynamicMember name: String) -> PythonObject { module("builtins")[dynamicMember: name] }
}

let Python = Interpreter()

func operators() {
    var x: PythonObject = 42
    print("x + 4 = \(x + 4)")
    x = "stringy now"
    print("super " + x)
}

func references(_ main: PythonObject) {
    _ = C.run("class A: pass\na = A(); a.x = 41")
    let a = main.a
    let owned = a.references
    let borrowed: UInt32
    do {
        let again = a.lend { PythonObject(Reference(borrowed: $0)) }
        borrowed = again.references
    }
    print("owned \(owned), borrowed \(borrowed), released \(a.references)")
    a.x += 1
}

func collections(_ main: PythonObject) {
    _ = C.run("numbers = [6, 7, 8]\nmixed = [1, 2, 'three', 4]")
    let kept = main.numbers.compactMap { Int($0) }.filter { $0 != 7 }.map { String(2 * $0) }
    print("map and filter: \(kept.joined(separator: " "))")
    print("numbers[1:3] = \(main.numbers[1..<3])")
    print("Array<Int>(numbers) = \([Int](main.numbers).map { "\($0)" } ?? "nil")")
    print("Array<Int>(mixed) = \([Int](main.mixed).map { "\($0)" } ?? "nil")")
}

func arrays() {
    let np = Python.module("numpy")
    let row = np.arange(15)
    let reshape = row.reshape  // a bound method holds the array too
    let table = reshape(3, 5)
    let during = withExtendedLifetime((reshape, table)) { row.references }
    let (rows, columns) = table.shape.pair
    print("arange: \(during) references, shape \(table.shape), \(Int(rows) ?? -1) by \(Int(columns) ?? -1)")
    print("np.array([6, 7, 8], dtype: \"i2\") is \(np.array([6, 7, 8], dtype: "i2").dtype)")
}

func conversions(_ main: PythonObject) {
    func told<T>(_ value: T?) -> String { value.map { "\($0)" } ?? "nil" }
    _ = C.run("wide, wider, cut = 2**70, 2**64 + 3, 'a\\0b'")
    print("Int(5) = \(told(Int(5.python)))")
    print("Int(3.7) = \(told(Int(3.7.python)))")
    print("Int(\"nope\") = \(told(Int("nope".python)))")
    print("Int(2**70) = \(told(Int(main.wide)))")
    print("UInt(-1) = \(UInt(wrapping: (-1).python))")
    print("UInt(2**64 + 3) = \(UInt(wrapping: main.wider))")
    print("String(\"a\\0b\") = \"\(told(String(main.cut)))\"")
    print("Double(\"1.5\") = \(told(Double("1.5".python)))")
    print("Python.type(5) = \(Python.type(5))")
}

func throwing() {
    do { print(try Python.open.throwing("foo.txt")) } catch { print("caught: \(error)") }
}

/// The last value that holds a reference is dropped by a thread that never asked for the GIL.
func dropElsewhere(_ object: consuming PythonObject) {
    let held = Unmanaged.passRetained(object.reference)
    let mine = C.releaseGIL()
    var thread = pthread_t()
    pthread_create(
        &thread, nil,
        { held in
            Unmanaged<Reference>.fromOpaque(held!).release()
            return nil
        }, held.toOpaque())
    pthread_join(thread, nil)
    C.takeGIL(mine)
}

/// A reference is taken for a C function that is then not called: nobody gives it back.
func lose() {
    for length in 1...3 { _ = Array(repeating: length, count: length).python.givenAway() }
}

func stay(_ main: PythonObject) {
    let kept = main.a  // held by Swift alone from here on
    _ = C.run("cache = {'k': [a, numbers]}")
    print("ready")
    fflush(nil)
    let mine = C.releaseGIL()
    sleep(1000)
    C.takeGIL(mine)
    withExtendedLifetime(kept) {}
}

func run(_ mode: String?) {
    let main = Python.module("__main__")
    operators()
    references(main)
    collections(main)
    arrays()
    conversions(main)
    throwing()
    switch mode {
    case "untrapped": _ = Python.open("foo.txt")
    case "unlocked": dropElsewhere(main.a)
    case "lost": lose()
    case "stay": stay(main)
    default: break
    }
}

if let home = getenv("HOST_HOME") { setenv("PYTHONHOME", home, 1) }  // where Python's own modules are
C.initialize(0)
run(CommandLine.arguments.count > 2 ? CommandLine.arguments[2] : nil)
fflush(nil)
exit(C.finalize())
