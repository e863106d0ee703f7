"""Whether a statement itself names a function that was called."""

# SPDX-License-Identifier: MIT
import re

from inspector.facts.conversion import Copy
from inspector.facts.statements import Written

NICKNAMES = {"np": "numpy", "pd": "pandas", "pl": "polars", "pa": "pyarrow", "jnp": "jax", "xr": "xarray"}
"""Names that modules are imported by -> the library."""


def names(written: Written, copy: Copy) -> bool:
    """Whether the statement itself names the function that was called, and not another library's."""
    found = re.search(rf"(?:\b(\w+)\.)?\b{re.escape(name(copy))}\b", written.text)
    library = copy.function.partition(".")[0]
    return found is not None and NICKNAMES.get(found[1] or "", library) == library


def is_written(written: Written, copy: Copy) -> bool:
    """Whether a call may be an operator or an index of the statement, or is of a function of C that it calls,
    as `_unpickle` of `pickle.loads(x)`: any other that it does not name is a library's own."""
    return name(copy).startswith("__") or written.library == "pickle"


def name(copy: Copy) -> str:
    """The name of the function that was called, without its module or type."""
    return copy.function.rpartition(".")[2]
