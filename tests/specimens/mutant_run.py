"""Run in a process of its own: an extension's tests, under a debug build's counts or under `leaks`.

`python mutant_run.py counts FOLDER TEST...` prints by how much `sys.gettotalrefcount` grows in each of three
runs after a warm one; `... leaks MODULE FOLDER TEST...` prints the verdicts of the repeat rule. Both print
JSON; who dies before has told by dying. A TEST is a name of unittest: module, class or method; "-x" leaves x
out.
"""

from __future__ import annotations

import gc
import io
import itertools
import json
import sys
import unittest
from collections.abc import Callable

RUNS = 4


def suite(names: list[str]) -> Callable[[], None]:
    """A call that runs the tests; what they say is dropped."""
    left_out = [name[1:] for name in names if name.startswith("-")]

    def chosen(tests: unittest.TestSuite) -> list[unittest.TestCase]:
        found: list[unittest.TestCase] = []
        for one in tests:
            found += chosen(one) if isinstance(one, unittest.TestSuite) else [one]
        return [one for one in found if not any(word in one.id() for word in left_out)]

    def run() -> None:
        loader = unittest.TestLoader()
        tests = chosen(loader.loadTestsFromNames([name for name in names if not name.startswith("-")]))
        unittest.TextTestRunner(io.StringIO(), verbosity=0).run(unittest.TestSuite(tests))

    return run


def counts(run: Callable[[], None]) -> list[int]:
    """References more after each run."""
    seen = [10**9 + at for at in range(RUNS)]  # as many ints as there will be
    for at in range(RUNS):
        run()
        gc.collect()
        seen[at] = sys.gettotalrefcount()  # type: ignore[attr-defined]
    return [after - before for before, after in itertools.pairwise(seen)]


def verdicts(module: str, run: Callable[[], None]) -> list[tuple[str, bool, str, str, str]]:
    """What `leaks` says, by the repeat rule, in a child."""
    import inspector

    found = inspector.leaks(module).run(run, isolate=True)
    return [
        (one.kind, one.certain, one.object, one.method, str(getattr(one.conversion, "source", "")))
        for one in found
    ]


if __name__ == "__main__":
    if sys.argv[1] == "counts":
        sys.path.insert(0, sys.argv[2])
        told: object = counts(suite(sys.argv[3:]))
    else:
        sys.path.insert(0, sys.argv[3])
        told = verdicts(sys.argv[2], suite(sys.argv[4:]))
    print("\n" + json.dumps(told), flush=True)
