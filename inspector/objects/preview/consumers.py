"""The conversion call of each library, as its users write it."""

# SPDX-License-Identifier: MIT
import importlib
import sys
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from inspector.errors import InspectorError


class Consumer(NamedTuple):
    """A library, and the call that converts an object to its type."""

    module: str
    function: str
    """The call for anything but a table."""
    table: str = ""
    """The call for tables: a DataFrame, two dimensions; "": the same call."""


CONSUMERS: Final = {
    "numpy": Consumer("numpy", "asarray"),
    "pandas": Consumer("pandas", "Series", "DataFrame"),
    "pyarrow": Consumer("pyarrow", "array", "table"),
    "torch": Consumer("torch", "as_tensor"),
    "polars": Consumer("polars", "Series", "DataFrame"),
    "jax": Consumer("jax.numpy", "asarray"),
    "memoryview": Consumer("builtins", "memoryview"),
    "bytes": Consumer("builtins", "bytes"),
}
FORK_UNSAFE: Final = ("torch", "polars", "jax", "cupy")
"""Libraries whose threads or devices a forked child must not touch, once loaded."""


def chosen(names: tuple[str, ...]) -> dict[str, Consumer]:
    """The consumers of these names. Raises InspectorError `unknown-consumer`."""
    for name in names:
        if name not in CONSUMERS:
            raise InspectorError(
                f"nothing is known about handing an object to {name!s:.40}.",
                slug="unknown-consumer",
                do=f"choose of {', '.join(CONSUMERS)}",
            )
    return {name: CONSUMERS[name] for name in dict.fromkeys(names)}


def installed() -> tuple[str, ...]:
    """Consumers whose library is imported, and the builtin ones."""
    return tuple(name for name, one in CONSUMERS.items() if one.module.partition(".")[0] in sys.modules)


def function_name(consumer: Consumer, is_table: bool) -> str:
    """ "numpy.asarray" """
    prefix = "" if consumer.module == "builtins" else f"{consumer.module}."
    return prefix + (consumer.table if is_table and consumer.table else consumer.function)


def function(consumer: Consumer, is_table: bool) -> Callable[[Any], Any]:
    """The call itself; imports the library."""
    module = importlib.import_module(consumer.module)
    if consumer.module == "pyarrow" and is_table:
        made: Callable[[Any], Any] = vars(module)["Table"].from_pandas
        return made
    found: Callable[[Any], Any] = getattr(
        module, consumer.table if is_table and consumer.table else consumer.function
    )
    return found


def unsafe() -> str:
    """Why a fork is not safe; "" if it is."""
    loaded = [name for name in FORK_UNSAFE if name in sys.modules]
    return f"{loaded[0]} is loaded: a fork of it may hang" if loaded else ""
