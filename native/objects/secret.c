// Whether a key is the name of a secret: one of the given words stands in it as a word of its own. The words
// are a parameter: their one home is inspector/facts/secret.py.
// SPDX-License-Identifier: MIT
#include "objects/objects.h"

enum { NAME_CHARS_MAX = 4096 };

// Whether `word` stands in `text` between two '_'.
static int has_word(const char *text, Py_ssize_t size, const char *word, Py_ssize_t length) {
    for (const char *end = text + size; text < end; text++) {
        const char *found = memmem(text, (size_t)(end - text), word, (size_t)length);
        if (!found) {
            return 0;
        }
        if (found[-1] == '_' && found[length] == '_') {
            return 1;
        }
        text = found;
    }
    return 0;
}

// `spelt` begins and ends with '_', so each hit within them has a neighbour on both sides.
static int has_secret_word(PyObject *words /* borrowed */, const char *spelt, Py_ssize_t size) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(words); i++) {
        PyObject *secret = PyTuple_GET_ITEM(words, i); // borrowed
        if (has_word(spelt + 1, size - 2, PyUnicode_DATA(secret), PyUnicode_GET_LENGTH(secret))) {
            return 1;
        }
    }
    return 0;
}

static Py_UCS4 letter_at(PyObject *name /* borrowed */, Py_ssize_t i, Py_ssize_t total) {
    Py_UCS4 c = i < total ? PyUnicode_READ_CHAR(name, i) : 0;
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ? c : 0;
}

#define IS_UPPER(c) ((c) && (c) <= 'Z')
#define IS_LOWER(c) ((c) >= 'a')

// The words of a name are its runs of ASCII letters; an upper-case letter after a lower-case one begins
// a new word ("apiKey" -> api, key), and `camel` also one before a lower-case one ("APIKey" -> api, key, but
// "APIkey" -> ap, ikey: so a name is read both ways). Written in lower case, each between two '_'.
static Py_ssize_t spell(PyObject *name /* borrowed */, Py_ssize_t total, int camel, char *ret) {
    Py_ssize_t size = 0;
    Py_UCS4 before = 0;
    ret[size++] = '_';
    for (Py_ssize_t i = 0; i < total; i++) {
        Py_UCS4 c = letter_at(name, i, total);
        int begins = IS_UPPER(c) && (IS_LOWER(before) || (camel && IS_LOWER(letter_at(name, i + 1, total))));
        if ((begins || !c) && ret[size - 1] != '_') {
            ret[size++] = '_';
        }
        if (c) {
            ret[size++] = (char)(c | 0x20);
        }
        before = c;
    }
    if (ret[size - 1] != '_') {
        ret[size++] = '_';
    }
    return size;
}

int secret_has_name(PyObject *words, PyObject *name) {
    char spelt[2 * NAME_CHARS_MAX + 2];
    if (!name || !PyUnicode_CheckExact(name) || !PyUnicode_IS_READY(name)) {
        return 0;
    }
    Py_ssize_t total = Py_MIN(PyUnicode_GET_LENGTH(name), NAME_CHARS_MAX);
    for (int camel = 0; camel < 2; camel++) {
        if (has_secret_word(words, spelt, spell(name, total, camel, spelt))) {
            return 1;
        }
    }
    return 0;
}
