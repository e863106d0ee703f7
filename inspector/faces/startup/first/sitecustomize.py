"""Run by `site` in each Python of a launched program: begins the trace, then runs the program's own file.

This folder is the first of PYTHONPATH. The launched process removes it from sys.path and the environment, so
that its children do not find it, unless they are traced too. Any other process only runs the program's own
sitecustomize. Nothing here may stop the program: failures are written to the trace's folder.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import json
import os
import sys
from typing import Any

SETTINGS = "INSPECTOR_TRACE"
PACKAGE: dict[str, Any] = {"__name__": "package"}
"""What package.py defines; `inspector` cannot be imported before its `package` ran."""


def own_file() -> None:
    """Run the sitecustomize that Python would find without this folder."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    here = os.path.dirname(os.path.abspath(__file__))
    spec = PathFinder.find_spec("sitecustomize", [path for path in sys.path if path != here])
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


def leave_no_trace(settings: dict[str, Any]) -> None:
    """Restore sys.path, and the environment unless children are traced too."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if path != here]
    if not settings["children"]:
        os.environ.pop(SETTINGS)
        os.environ.pop("PYTHONPATH", None)
        if settings["pythonpath"] is not None:
            os.environ["PYTHONPATH"] = settings["pythonpath"]


def leave_path() -> None:
    """Remove this folder from sys.path, and from PYTHONPATH for the children."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if path != here]
    left = [path for path in os.environ["PYTHONPATH"].split(os.pathsep) if path != here]
    os.environ["PYTHONPATH"] = os.pathsep.join(left)
    if not left:
        del os.environ["PYTHONPATH"]


def begin(settings: dict[str, Any]) -> None:
    """Begin the trace or the leak check; or report why not."""
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
    """Begin in the launched process, or in each where children are traced; then run the own file."""
    settings = json.loads(os.environ.get(SETTINGS) or "null")
    if settings:
        above = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        with open(os.path.join(above, "package.py"), encoding="utf-8") as file:
            exec(file.read(), PACKAGE)
        if settings["children"] or os.getppid() == settings["parent"]:
            leave_no_trace(settings)
            begin(settings)
        else:
            PACKAGE["tell"](settings, "other", ran=" ".join(sys.orig_argv))
    elif "PYTHONPATH" in os.environ:  # a host restored its environment, as reticulate does
        leave_path()
    own_file()


main()
