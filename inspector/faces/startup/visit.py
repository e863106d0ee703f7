"""Run as text in the Python of a process that is attached to: a trace begins there, and ends.

    exec(this, {"SETTINGS": {"do": "begin", "folder": ..., "package": ..., "version": ..., "modules": []}})

Nothing here may raise: what goes wrong is told in the folder. When the trace has ended the modules that came
with it are taken out of sys.modules again; of the standard library, what was imported stays.
"""

from __future__ import annotations

import os
import sys
from typing import Any

SETTINGS: dict[str, Any] = globals().get("SETTINGS", {})
_KEPT = "_visit"
"""Where the running trace is kept between the two calls: in our own package."""


def begin(settings: dict[str, Any], package: dict[str, Any]) -> None:
    """Begin a trace, or tell why not."""
    before = set(sys.modules)
    try:
        _open_to_extensions(settings["library"])
        found = sys.modules.get("inspector")
        if found is None:
            package["package"](settings)
        elif getattr(found, "__version__", "") != settings["version"]:
            raise ImportError("a module called inspector is there already, which is another one")
        from inspector.sessions import trace_launched

        vars(trace_launched)[_KEPT] = (trace_launched.begin(settings), before)
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
    """End the trace, and take away what came with it."""
    leave, before = vars(sys.modules["inspector.sessions.trace_launched"]).pop(_KEPT)
    try:
        leave()
    finally:
        _take_away(before)
    package["tell"](settings, "ended")


def _open_to_extensions(library: str) -> None:
    """A host that opened libpython for itself alone (RTLD_LOCAL) shows extensions none of its symbols.

    Opened once more with RTLD_GLOBAL it does (dlopen(3)); ctypes would need those symbols itself, the
    importer of extensions needs none: it opens the file, finds no module in it, and that is all we want.
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
    """Do what was asked; once for each of the two calls."""
    package: dict[str, Any] = {"__name__": "package"}
    with open(os.path.join(SETTINGS["package"], "faces", "startup", "package.py"), encoding="utf-8") as file:
        exec(file.read(), package)
    (begin if SETTINGS["do"] == "begin" else end)(SETTINGS, package)


if SETTINGS:
    main()
