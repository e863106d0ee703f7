// Where the running thread's Python code is, for deep records: two loads a frame, nothing is called or made.
//
// A thread of another interpreter gets nothing: its objects are not ours to take references of (PEP 684).
#define INSPECTOR_INTERNALS
#include "native.h"

#include "hooks.h"

int running_is_ours(void) {
    PyThreadState *thread = compat_thread_unchecked();
    return thread && thread->interp == PyInterpreterState_Main();
}

running_place running_where(void) {
    PyThreadState *thread = compat_thread_unchecked();
    if (!thread || thread->interp != PyInterpreterState_Main()) {
        return (running_place){0};
    }
    for (_PyInterpreterFrame *frame = compat_thread_frame(thread); frame; frame = frame->previous) {
        PyCodeObject *code = compat_frame_code(frame); // borrowed
        if (code) {
            char *instruction = (char *)compat_frame_instruction(frame);
            return (running_place){interned_id((PyObject *)code),
                                   (int32_t)(instruction - (char *)_PyCode_CODE(code)), 1};
        }
    }
    return (running_place){.is_ours = 1};
}
