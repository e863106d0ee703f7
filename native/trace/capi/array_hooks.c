// What a function of NumPy's table did with bytes: made, copied or shared them, read from the array's struct.
//
// A result that lies in the argument's memory, or that does not own its memory, shares it. A result in fresh
// memory is a copy where the argument has elements and the function keeps them. It is made where the argument
// is a list or there is none, and by functions that compute.
// SPDX-License-Identifier: MIT
#define INSPECTOR_PLAIN_NAMES
#include "objects/spans.h"
#include "trace/capi/hooks.h"

enum { NO_BYTES, MAKES, KEEPS, GATHERS, STORES, WRITES };
enum { MADE = 1, COPIED, SHARED };

static const uint8_t does[CAPI_ROW_COUNT] = {
    [capi_PyArray_FromAny] = KEEPS,
    [capi_PyArray_CheckFromAny] = KEEPS,
    [capi_PyArray_FromArray] = KEEPS,
    [capi_PyArray_EnsureArray] = MAKES, // it stole its argument
    [capi_PyArray_EnsureAnyArray] = MAKES,
    [capi_PyArray_FromInterface] = KEEPS,
    [capi_PyArray_FromBuffer] = KEEPS,
    [capi_PyArray_FromIter] = MAKES,
    [capi_PyArray_FromScalar] = MAKES,
    [capi_PyArray_Converter] = STORES,
    [capi_PyArray_New] = MAKES,
    [capi_PyArray_NewFromDescr] = MAKES,
    [capi_PyArray_NewLikeArray] = MAKES,
    [capi_PyArray_Empty] = MAKES,
    [capi_PyArray_Zeros] = MAKES,
    [capi_PyArray_Arange] = MAKES,
    [capi_PyArray_CopyInto] = WRITES,
    [capi_PyArray_CopyAnyInto] = WRITES,
    [capi_PyArray_CopyObject] = WRITES,
    [capi_PyArray_NewCopy] = KEEPS,
    [capi_PyArray_CastToType] = KEEPS,
    [capi_PyArray_Newshape] = KEEPS,
    [capi_PyArray_Reshape] = KEEPS,
    [capi_PyArray_Ravel] = KEEPS,
    [capi_PyArray_Flatten] = KEEPS,
    [capi_PyArray_Transpose] = KEEPS,
    [capi_PyArray_Squeeze] = KEEPS,
    [capi_PyArray_View] = KEEPS,
    [capi_PyArray_GetField] = KEEPS,
    [capi_PyArray_Concatenate] = GATHERS,
    [capi_PyArray_MatrixProduct2] = MAKES,
    [capi_PyArray_InnerProduct] = MAKES,
    [capi_PyArray_Sum] = MAKES,
};

static int shares(const data_span *made, const data_span *source) {
    return made->start < source->start + source->span_bytes && source->start < made->start + made->span_bytes;
}

static int what_became(uint8_t what, PyObject *array, PyObject *object, const data_span *made) {
    data_span source;
    int has_bytes = (what == KEEPS || what == STORES) && object && spans_read(object, &source);
    if (what == WRITES) {
        return COPIED;
    }
    if (array == object && what != MAKES) {
        return SHARED;
    }
    if ((has_bytes && shares(made, &source)) || !(made->flags & SPAN_OWNED)) {
        return SHARED;
    }
    return has_bytes || what == GATHERS ? COPIED : MADE;
}

void hook_array(const hook_call *call, uint16_t row, PyObject *object, uint64_t value,
                const PyObject *const *result) {
    uint8_t what = does[row];
    if (!what) { // the result may be an int, not a pointer
        return;
    }
    PyObject *array = what == WRITES   ? object
                      : what == STORES ? (PyObject *)value
                                       : (PyObject *)*result; // borrowed: the caller's
    data_span made;
    if (array && !call->place.no_gil && spans_is_ndarray(array) && spans_read(array, &made)) {
        hook_bytes(call, (uint16_t)what_became(what, array, object, &made), array, made.logical_bytes);
    }
}
