// Short text for display: printable, bounded, without anything that a terminal would act upon.
//
// A `text` is a buffer on the C stack. A part fills it character by character and turns it into one str at
// the end. A text beyond its limit is cut at the last place marked by `text_may_cut` and ends in "…", with
// the closing bracket or quote where it has one. Names, documentation and values come from the inspected
// program and may hold anything: control codes, surrogates and bidirectional marks are written as Python
// escapes.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#include "module/native.h"

void text_put(text *into, Py_UCS4 character) {
    if (into->length < into->limit) {
        into->characters[into->length++] = character;
    } else {
        into->full = 1;
    }
}

void text_put_ascii(text *into, const char *ascii) {
    for (; *ascii; ascii++) {
        text_put(into, (unsigned char)*ascii);
    }
}

// Marks a place only if "…" and the closing character still fit behind it.
void text_may_cut(text *into) {
    if (!into->full && into->length <= into->limit - 2) {
        into->safe = into->length;
    }
}

void text_put_escaped(text *into, Py_UCS4 character, Py_UCS4 quote) {
    char escape[12];
    if (quote && (character == quote || character == '\\')) {
        text_put(into, '\\');
        text_put(into, character);
    } else if (Py_UNICODE_ISPRINTABLE(character)) {
        text_put(into, character);
    } else if (character == '\n' || character == '\t' || character == '\r') {
        text_put(into, '\\');
        text_put(into, character == '\n' ? 'n' : character == '\t' ? 't' : 'r');
    } else {
        const char *form = character < 0x100 ? "\\x%02x" : character < 0x10000 ? "\\u%04x" : "\\U%08x";
        PyOS_snprintf(escape, sizeof(escape), form, (unsigned)character);
        text_put_ascii(into, escape);
    }
}

PyObject *text_finish(text *from) {
    if (from->full) {
        from->length = from->safe;
        from->characters[from->length++] = 0x2026; // …
        if (from->closing) {
            from->characters[from->length++] = from->closing;
        }
    }
    return PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, from->characters, from->length);
}

PyObject *text_visible(PyObject *original, Py_ssize_t limit) {
    text into = {.limit = (int)Py_MIN(limit, TEXT_MAX_CHARS)};
    for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(original) && !into.full; i++) {
        text_may_cut(&into);
        text_put_escaped(&into, PyUnicode_READ_CHAR(original, i), 0);
    }
    return text_finish(&into);
}

PyObject *text_from_c(const char *original, Py_ssize_t limit) {
    if (!original) {
        return PyUnicode_FromString("");
    }
    // One character more than the limit, of at most 4 bytes each, so that text_visible sees that it must cut.
    Py_ssize_t size = (Py_ssize_t)strnlen(original, (size_t)(limit + 1) * 4);
    _owned_ PyObject *decoded = PyUnicode_DecodeUTF8(original, size, "replace");
    return decoded ? text_visible(decoded, limit) : NULL;
}
