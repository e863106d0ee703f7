"""Run by `site` in each Python of a launched program: begins the trace there, then the program's own file.

This folder is the first of PYTHONPATH. In the process that was launched it is taken out of sys.path and of
the environment again, so that its children do not meet it, unless they are wanted too. In any other process
only the program's own sitecustomize is run. Nothing here may stop the program: what goes wrong is told in
the folder of the trace.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

SETTINGS = "INSPECTOR_TRACE"
PACKAGE: dict[str, Any] = {"__name__": "package"}
"""What package.py defines: nothing can be imported from here before it made that possible."""


def own_file() -> None:
    """Run the sitecustomize that would have been found without this folder."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    here = os.path.dirname(os.path.abspath(__file__))
    spec = PathFinder.find_spec("sitecustomize", [path for path in sys.path if path != here])
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


def leave_no_trace(settings: dict[str, Any]) -> None:
    """The environment and the path as the user gave them."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if path != here]
    if not settings["children"]:
        os.environ.pop(SETTINGS)
        os.environ.pop("PYTHONPATH", None)
        if settings["pythonpath"] is not None:
            os.environ["PYTHONPATH"] = settings["pythonpath"]


def leave_path() -> None:
    """Take this folder out of sys.path, and out of PYTHONPATH for the children."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if path != here]
    left = [path for path in os.environ["PYTHONPATH"].split(os.pathsep) if path != here]
    os.environ["PYTHONPATH"] = os.pathsep.join(left)
    if not left:
        del os.environ["PYTHONPATH"]


def begin(settings: dict[str, Any]) -> None:
    """Begin the trace, or open the ledger; or tell why not."""
    try:
        PACKAGE["package"](settings)
        from importlib import import_module

        import_module(settings["begins"]).begin(settings)
        PACKAGE["tell"](settings, "began")
    except LookupError:
        sys.modules.pop("inspector", None)
        PACKAGE["tell"](settings, "refused", slug="no-build")
    except Exception as error:
        slug = getattr(error, "slug", "our-fault")
        PACKAGE["tell"](
            settings, "refused", slug=slug, what=getattr(error, "what", f"{type(error).__name__}: {error}")
        )


def main() -> None:
    """Begin in the process that was launched, or in each where children are wanted; then the own file."""
    settings = json.loads(os.environ.get(SETTINGS) or "null")
    if settings:
        above = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        with open(os.path.join(above, "package.py"), encoding="utf-8") as file:
            exec(file.read(), PACKAGE)
        if settings["children"] or os.getppid() == settings["parent"]:
            leave_no_trace(settings)
            begin(settings)
        else:
            PACKAGE["tell"](settings, "other")
    elif "PYTHONPATH" in os.environ:  # a host that put its environment back, as reticulate does
        leave_path()
    own_file()


main()
