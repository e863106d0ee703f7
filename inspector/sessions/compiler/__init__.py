"""Turn C text into a module: written out, compiled once, cached by its key, loaded.

A `Recipe` holds all that decides the build: the text of the cell and its sections, the compiler, its
arguments, Python and NumPy. The key is a hash of exactly that, so a cached module needs no compiler and no
change is missed (Theano's cache relies on a version that authors must raise). The text is compiled to an
object file first; its debug information names the functions and their types, so no C is parsed here; then the
method table for these functions is written, compiled and linked with it. Functions with Python objects are
called through that table, with the GIL held; functions of plain C through cffi, which releases the GIL.
"""

# SPDX-License-Identifier: MIT
