// Finds Python while the program runs: dlopen opens libpython, dlsym gives each C function.
// SPDX-License-Identifier: MIT
//
// Each global below is set when it is first read, as every global of Swift outside main.swift. So dlsym is asked
// for a function at its first use, and the program has no symbol of Python's.

import Glibc

/// `PyObject *`
typealias Pointer = UnsafeMutableRawPointer

/// Writes a last sentence and ends the program.
func stop(_ sentence: String) -> Never {
    print(sentence)
    fflush(nil)
    abort()
}

let libpython: UnsafeMutableRawPointer = {
    guard CommandLine.arguments.count > 1, let found = dlopen(CommandLine.arguments[1], RTLD_NOW | RTLD_GLOBAL)
    else { stop("The first argument is the path of a libpython: \(dlerror().map { String(cString: $0) } ?? "none")") }
    return found
}()

/// The function of libpython with this name, as a function of Swift.
private func function<Signature>(_ name: String) -> Signature {
    guard let address = dlsym(libpython, name) else { stop("libpython has no \(name)") }
    return unsafeBitCast(address, to: Signature.self)
}

enum C {
    static let initialize: @convention(c) (CInt) -> Void = function("Py_InitializeEx")
    static let finalize: @convention(c) () -> CInt = function("Py_FinalizeEx")
    static let run: @convention(c) (UnsafePointer<CChar>) -> CInt = function("PyRun_SimpleString")
    static let importModule: @convention(c) (UnsafePointer<CChar>) -> Pointer? = function("PyImport_ImportModule")
    static let releaseGIL: @convention(c) () -> OpaquePointer? = function("PyEval_SaveThread")
    static let takeGIL: @convention(c) (OpaquePointer?) -> Void = function("PyEval_RestoreThread")

    static let take: @convention(c) (Pointer) -> Void = function("Py_IncRef")
    static let giveBack: @convention(c) (Pointer) -> Void = function("Py_DecRef")

    static let getMember: @convention(c) (Pointer, UnsafePointer<CChar>) -> Pointer? =
        function("PyObject_GetAttrString")
    static let setMember: @convention(c) (Pointer, UnsafePointer<CChar>, Pointer) -> CInt =
        function("PyObject_SetAttrString")
    static let getItem: @convention(c) (Pointer, Pointer) -> Pointer? = function("PyObject_GetItem")
    static let call: @convention(c) (Pointer, Pointer, Pointer?) -> Pointer? = function("PyObject_Call")
    static let add: @convention(c) (Pointer, Pointer) -> Pointer? = function("PyNumber_Add")
    static let text: @convention(c) (Pointer) -> Pointer? = function("PyObject_Str")
    static let iterator: @convention(c) (Pointer) -> Pointer? = function("PyObject_GetIter")
    static let next: @convention(c) (Pointer) -> Pointer? = function("PyIter_Next")

    static let newTuple: @convention(c) (Int) -> Pointer? = function("PyTuple_New")
    /// Steals the reference.
    static let setTupleItem: @convention(c) (Pointer, Int, Pointer) -> CInt = function("PyTuple_SetItem")
    /// The result is borrowed.
    static let tupleItem: @convention(c) (Pointer, Int) -> Pointer? = function("PyTuple_GetItem")
    static let newList: @convention(c) (Int) -> Pointer? = function("PyList_New")
    /// Steals the reference.
    static let setListItem: @convention(c) (Pointer, Int, Pointer) -> CInt = function("PyList_SetItem")
    static let newDict: @convention(c) () -> Pointer? = function("PyDict_New")
    static let setKeyword: @convention(c) (Pointer, UnsafePointer<CChar>, Pointer) -> CInt =
        function("PyDict_SetItemString")
    static let newSlice: @convention(c) (Pointer?, Pointer?, Pointer?) -> Pointer? = function("PySlice_New")

    static let fromInt: @convention(c) (Int) -> Pointer? = function("PyLong_FromLong")
    static let fromDouble: @convention(c) (Double) -> Pointer? = function("PyFloat_FromDouble")
    static let fromText: @convention(c) (UnsafePointer<CChar>, Int) -> Pointer? =
        function("PyUnicode_FromStringAndSize")
    static let toInt: @convention(c) (Pointer) -> Int = function("PyLong_AsLong")
    static let toUIntMask: @convention(c) (Pointer) -> UInt = function("PyLong_AsUnsignedLongMask")
    static let toDouble: @convention(c) (Pointer) -> Double = function("PyFloat_AsDouble")
    /// The text belongs to the object.
    static let toText: @convention(c) (Pointer) -> UnsafePointer<CChar>? = function("PyUnicode_AsUTF8")

    /// The result is borrowed.
    static let error: @convention(c) () -> Pointer? = function("PyErr_Occurred")
    static let clearError: @convention(c) () -> Void = function("PyErr_Clear")
    typealias Slot = UnsafeMutablePointer<Pointer?>

    /// Gives three references: type, value, traceback.
    static let fetchError: @convention(c) (Slot, Slot, Slot) -> Void = function("PyErr_Fetch")
    static let normalizeError: @convention(c) (Slot, Slot, Slot) -> Void = function("PyErr_NormalizeException")
}
