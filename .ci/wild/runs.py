"""Each call of a program under `leaks(...).run`, a line of JSON for each; begun at the call that is named.

python -P runs.py program.py call_3 ujson
"""

# SPDX-License-Identifier: MIT
import contextlib
import json
import runpy
import sys

import inspector


def main(path, first, *modules):
    """Print what is told of each call; the line of a call that ends the process is missing."""
    space = runpy.run_path(path)
    names = [one.__name__ for one in space["CALLS"]]
    for name in names[names.index(first) :]:

        def call(name=name):
            with contextlib.suppress(Exception):
                space[name]()

        told = json.loads(inspector.leaks(*modules).run(call).report.to_json())
        print(json.dumps({"call": name, **told["facts"]["leaks"]}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
