"""Rules of the catalogue: from the cases of one call, what it does with which kind of argument."""

# SPDX-License-Identifier: MIT
from collections import Counter
from collections.abc import Iterable

from inspector.facts.catalogue import Case, Catalogue, Count, Rule


def rules(found: Iterable[Catalogue]) -> tuple[Rule, ...]:
    """A rule for each call, in each release; releases whose rules are the same are one."""
    by_call: dict[tuple[str, str], dict[str, list[Case]]] = {}
    for one in found:
        for case in one.cases:
            by_call.setdefault((case.operation, case.call), {}).setdefault(one.version, []).append(case)
    rows = []
    for (operation, call), versions in by_call.items():
        said: dict[tuple[str, float], list[str]] = {}
        for version, cases in versions.items():
            said.setdefault((rule(cases), max(case.made for case in cases)), []).append(version)
        rows += [Rule(operation, call, words, tuple(names), made) for (words, made), names in said.items()]
    return tuple(rows)


def rule(cases: list[Case]) -> str:
    """ "view"; "view if C-contiguous, one axis, else copy": in the words of the verdicts and the kinds."""
    by: dict[str, list[str]] = {}
    for case in cases:
        by.setdefault(case.did, []).append(case.kind)
    if len(by) == 1:
        return next(iter(by))
    usual = max(by, key=lambda did: (len(by[did]), did == "copy"))
    special = [f"{did} if {_kinds(names)}" for did, names in by.items() if did != usual]
    return f"{', '.join(special)}, else {usual}"


def _kinds(names: list[str]) -> str:
    """Kinds without the type's name, if all have the same."""
    heads = {name.partition(", ")[0] for name in names}
    shared = len(heads) == 1 and len(names) > 1
    return " or ".join(name.partition(", ")[2] or name if shared else name for name in names)


def count(found: Iterable[Catalogue]) -> tuple[Count, ...]:
    """Of each release: operations, cases, and how many of them the trace says the same of."""
    rows = []
    for one in found:
        said = Counter(case.agrees for case in one.cases)
        rows.append(
            Count(
                one.library,
                one.version,
                one.operations,
                len(one.cases),
                said["yes"],
                said["no"],
                said["not told"],
            )
        )
    return tuple(rows)
