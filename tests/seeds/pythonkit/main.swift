import Foundation
let main = Python.import("__main__")
let x: PythonObject = 42
print("x + 4 =", x + 4)
let s: PythonObject = "stringy now"
print("super " + s)
print("Int(nope)", Int(PythonObject("nope")) as Any)
print("UInt(-1)", UInt(PythonObject(-1)) as Any)
print("String", String(PythonObject("a\0b"))!.count)
print("Array", Array<Int>(Python.eval("[1, 2, 'three', 4]", Python.dict())) as Any)
do { _ = try Python.open.throwing.dynamicallyCall(withArguments: "foo.txt") } catch { print("caught:", error) }
let kept = Python.dict(k: [1, 2, 3] as PythonObject)
main.cache = kept
print("ready")
fflush(nil)
sleep(1000)
