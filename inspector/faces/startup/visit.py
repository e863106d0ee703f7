"""Executed as text in an attached process: begins a session there (a trace, sampled growth), and ends it.

    exec(this, {"SETTINGS": {"do": "begin", "session": ..., "folder": ..., "package": ..., "version": ...}})

`session`: the module of inspector.sessions whose `begin(settings)` returns what ends it. Nothing here may
raise: failures are written to the folder. When the session ends, our modules are removed from
sys.modules; imported modules of the standard library stay.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import os
import sys
from typing import Any

SETTINGS: dict[str, Any] = globals().get("SETTINGS", {})
_KEPT = "_visit"
"""The attribute of the sessions' package that keeps the running one between the two calls."""


def begin(settings: dict[str, Any], package: dict[str, Any]) -> None:
    """Begin a session, or report why not."""
    before = set(sys.modules)
    try:
        _open_to_extensions(settings["library"])
        found = sys.modules.get("inspector")
        if found is None:
            package["package"](settings)
        elif getattr(found, "__version__", "") != settings["version"]:
            raise ImportError("the process has another module called inspector")
        from importlib import import_module

        session = import_module(f"inspector.sessions.{settings['session']}")
        vars(sys.modules["inspector.sessions"])[_KEPT] = (session.begin(settings), before)
        package["tell"](settings, "began")
    except LookupError:
        _take_away(before)
        package["tell"](settings, "refused", slug="no-build")
    except BaseException as error:
        _take_away(before)
        slug = getattr(error, "slug", "no-visit")
        what = getattr(error, "what", f"{type(error).__name__}: {error}")
        package["tell"](settings, "refused", slug=slug, what=what)


def end(settings: dict[str, Any], package: dict[str, Any]) -> None:
    """End the session, and remove our modules."""
    leave, before = vars(sys.modules["inspector.sessions"]).pop(_KEPT)
    try:
        leave()
    finally:
        _take_away(before)
    package["tell"](settings, "ended")


def _open_to_extensions(library: str) -> None:
    """Open libpython again with RTLD_GLOBAL: a host that used RTLD_LOCAL hides its symbols from extensions.

    ctypes would need those symbols itself. The importer of extensions needs none: it opens the file
    (dlopen(3)), finds no module in it and raises ImportError.
    """
    if library:
        import _imp
        from importlib.machinery import ModuleSpec

        flags = sys.getdlopenflags()
        sys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL)
        try:
            _imp.create_dynamic(ModuleSpec("_no_module", None, origin=library))
        except ImportError:
            pass
        finally:
            sys.setdlopenflags(flags)


def _take_away(before: set[str]) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "inspector"]:
        if name not in before:
            del sys.modules[name]


def main() -> None:
    """Begin or end the session, as SETTINGS say."""
    package: dict[str, Any] = {"__name__": "package"}
    with open(os.path.join(SETTINGS["package"], "faces", "startup", "package.py"), encoding="utf-8") as file:
        exec(file.read(), package)
    (begin if SETTINGS["do"] == "begin" else end)(SETTINGS, package)


if SETTINGS:
    main()
