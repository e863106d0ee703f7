"""Turn C text into a module: written out, compiled once, cached by its key, loaded.

A `Recipe` holds all that decides the build: the text of the cell and its sections, the compiler, its
arguments, Python and NumPy. The key is a hash of exactly that, so a cached module needs no compiler and no
change is missed (Theano's cache relies on a version that authors must raise). The text is compiled to an
object file first; its debug information names the functions and their types, so no C is parsed here; then the
method table for these functions is written, compiled and linked with it. Functions with Python objects are
called through that table, with the GIL held; functions of plain C through cffi, which releases the GIL.

    recipe.py      the input of a build, and its key
    text.py        the C text around the cell
    prototypes.py  the functions that an object file defines (DWARF)
    table.py       the method table that calls them
    build.py       the compiler and its messages
    cache.py       folders by key
    plain.py       plain C functions through cffi
    module.py      from a recipe to a loaded module
"""

# SPDX-License-Identifier: MIT
