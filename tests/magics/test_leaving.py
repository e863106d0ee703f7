"""`%unload_ext` and `%reload_ext` leave the shell as they found it."""

# SPDX-License-Identifier: MIT
import gc
import sys

import pytest
from IPython.core.magic import Magics

import inspector

pytestmark = [pytest.mark.core, pytest.mark.quick]


def state(shell) -> dict[str, object]:
    """Everything an extension could leave behind, by identity where there is one."""
    table = shell.magics_manager
    magics = {
        f"{kind} {name}": repr(call) for kind in table.magics for name, call in table.magics[kind].items()
    }
    return {
        "magics": magics,
        "registry": sorted(table.registry),
        "configurables": [type(one).__name__ for one in shell.configurables],
        "config": repr(shell.config),
        "matchers": list(shell.Completer.custom_matchers),
        "events": {event: list(calls) for event, calls in shell.events.callbacks.items()},
        "transforms": [list(shell.input_transformers_cleanup), list(shell.input_transformers_post)],
        "ast transforms": list(shell.ast_transformers),
        "formatters": {
            mime: (list(one.type_printers), list(one.deferred_printers))
            for mime, one in shell.display_formatter.formatters.items()
        },
        "bundles": (
            list(shell.display_formatter.mimebundle_formatter.type_printers),
            list(shell.display_formatter.mimebundle_formatter.deferred_printers),
        ),
        "names": sorted(shell.user_ns),
        "hooks": (sys.displayhook, sys.excepthook, sys.gettrace(), sys.getprofile(), list(gc.callbacks)),
    }


def test_unloading_leaves_nothing(bare_shell) -> None:
    bare_shell.run_cell("x = [1]\n%unload_ext inspector")  # IPython imports its own %load_ext on first use
    before = state(bare_shell)
    bare_shell.run_line_magic("load_ext", "inspector")
    assert state(bare_shell) != before
    bare_shell.run_line_magic("inspect", "x")
    bare_shell.display_formatter.format(inspector.owners(bare_shell.user_ns["x"]))
    bare_shell.run_line_magic("unload_ext", "inspector")
    after = state(bare_shell)
    assert {key: after[key] for key in after if after[key] != before[key]} == {}


def test_reloading_twenty_times_leaks_no_magics(shell) -> None:
    once = state(shell)["registry"], len(shell.configurables), len(shell.Completer.custom_matchers)
    for _ in range(20):
        shell.run_line_magic("reload_ext", "inspector")
    assert (state(shell)["registry"], len(shell.configurables), len(shell.Completer.custom_matchers)) == once
    gc.collect()
    found = [one for one in gc.get_objects() if issubclass(type(one), Magics)]  # not the object
    kinds = [type(one).__name__ for one in found if one.shell is shell]
    assert kinds.count("InspectMagics") == 1


def test_a_magic_of_the_users_comes_back(bare_shell) -> None:
    bare_shell.register_magic_function(lambda line: "mine", "line", "inspect")
    bare_shell.run_line_magic("load_ext", "inspector")
    bare_shell.run_line_magic("unload_ext", "inspector")
    assert bare_shell.run_line_magic("inspect", "") == "mine"
