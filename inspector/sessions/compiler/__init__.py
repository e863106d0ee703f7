"""C text becomes a module: written out, compiled once, kept by its key, loaded; a stranger on floor 3.

Overview. A `Recipe` is all that decides what is built: the text of the cell and its sections, the compiler,
its arguments, the Python and NumPy it is for. Its key is a hash of just that, so a module found under the key
needs no compiler, and no change can be missed (Theano's cache trusts a version that authors must raise).
The text is compiled to an object file first; its debug information says which functions it defines and
with which types, so no C is parsed here; then the method table for those functions is written, compiled
and linked with it. Functions that speak of Python objects are called through that table, holding the GIL;
functions of plain C through cffi, which lets the GIL go.

    recipe.py      what goes in, and its key
    text.py        the C that is written around the cell
    prototypes.py  the functions an object file defines (DWARF)
    table.py       the method table that calls them
    build.py       the compiler and its complaints
    cache.py       folders by key
    plain.py       plain C functions through cffi
    module.py      from a recipe to a loaded module
"""
