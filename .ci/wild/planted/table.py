"""docs/planted.md, made from the answers of plant.py."""

# SPDX-License-Identifier: MIT
from collections import Counter, defaultdict

HEAD = """# Planted faults

{right} of {count} faults ({right_share}) are told with the right function, {first} ({first_share}) by the
first call that passes the line; {told} ({told_share}) are told at all. For {wrong} another function is
accused, for {wrong_certain} of them certainly. Without a fault {innocent} calls were made; of {places}
places accused there {right_places} are right, {once_places} true once, {wrong_places} wrong.
`make planted` measures this and writes this page.

One release of each package was built with every fault inside (`-O1 -g`, CPython 3.11), and a number chooses
the one that is on. A fault counts if a call of a short program passes its place, where the pointer is not
NULL, and if anything shows it. {idle} were left out: nothing was told of them, no SystemError came, and the
second witness of `make wild` saw nothing grow or fall in 400 calls. The call is made once under
`inspector.leaks`; where no right function is named, it is made again by
`leaks(...).run(..., isolate=True)`. The fault itself writes down which C functions are on the stack as it is
passed: a verdict is right if it names one of them. What the call tells without a fault does not count.

| fault | planted | told | right | first call | certain | no function | wrong | died | silent |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
{rows}

By package:

| package | planted | told | right | first call |
|---|---:|---:|---:|---:|
{by_package}

## Not told, or not rightly

{missed}

## Told without a fault

{accused}
"""
LOOKS = ("once", "often")
GROWS = ("blocks", "bytes", "resident", "rises", "falls")
WORDS = {
    "nameless": "no function", "wrong": "another function", "died": "the process died", "nothing": "not told",
}  # fmt: skip


def said(told):
    """All verdicts of an answer."""
    return [one for look in LOOKS for one in told.get(look, {}).get("verdicts", ())]


def line(told):
    """One answer in a line."""
    where = f"{told['kind']} {told['function']}:{told['line']}" if told["kind"] else "without a fault"
    words = [one["said"] or one["reason"] for one in said(told)]
    return f"{told['package']} {told['call']} {where}: {outcome(told)} {words}"


def verdicts(told, look):
    """The verdicts of a look, each with `right`: True, False, or None where it names no function."""
    passed = set(told["once"]["passed"]) | set(told.get("often", {}).get("passed", ()))
    for one in told.get(look, {}).get("verdicts", ()):
        yield one | {"right": bool(passed & set(one["functions"])) if one["method"] else None}


def outcome(told):
    """first, repeated, nameless, wrong, died, nothing: the best that was told."""
    found = {look: [one["right"] for one in verdicts(told, look)] for look in LOOKS}
    if True in found["once"] + found["often"]:
        return "first" if True in found["once"] else "repeated"
    both = found["once"] + found["often"]
    if both:
        return "nameless" if None in both else "wrong"
    return "died" if any(told.get(look, {}).get("code") for look in LOOKS) else "nothing"


def acts(told):
    """Whether anything shows the fault: what is told, or the second witness."""
    seen = told.get("seen", {"raised": "SystemError"})
    return "died" in seen or seen["raised"] == "SystemError" or any(seen[key] for key in GROWS)


def is_certain(told):
    """Whether a right verdict, or one without a function, is certain."""
    return any(one["certain"] and one["right"] is not False for look in LOOKS for one in verdicts(told, look))


def accuses(told, certain=False):
    """Whether another function is accused, rightly beside it or not."""
    found = [one for look in LOOKS for one in verdicts(told, look) if one["right"] is False]
    return any(one["certain"] for one in found) if certain else bool(found)


def page(answers):
    """The page as text."""
    passed = [one for one in answers if one["kind"] and one["once"]["passed"]]
    faults = [one for one in passed if acts(one)]
    bare = [one for one in answers if not one["kind"]]
    kinds, packages = defaultdict(list), defaultdict(list)
    for one in faults:
        kinds[one["kind"]].append(one)
        packages[f"{one['package']} {one['release']}"].append(one)
    rows = [*sorted(kinds.items()), ("**together**", faults)]
    whole = _numbers(faults)
    places = _places(bare)
    return HEAD.format(
        count=len(faults), idle=len(passed) - len(faults), told=whole[1], right=whole[2], first=whole[3],
        told_share=_share(whole[1], len(faults)), right_share=_share(whole[2], len(faults)),
        first_share=_share(whole[3], len(faults)),
        wrong=sum(map(accuses, faults)), wrong_certain=sum(accuses(one, certain=True) for one in faults),
        innocent=len(bare), places=len(places),
        right_places=sum(one["right"] for one in places.values()),
        once_places=sum(one["once"] and not one["right"] for one in places.values()),
        wrong_places=sum(not one["once"] and not one["right"] for one in places.values()),
        rows="\n".join(_row(kind, _numbers(some)) for kind, some in rows),
        by_package="\n".join(_row(name, _numbers(some)[:4]) for name, some in packages.items()),
        missed="\n".join(_missed(faults)), accused="\n".join(_accused(places)),
    )  # fmt: skip


def _numbers(some):
    seen = Counter(map(outcome, some))
    right = seen["first"] + seen["repeated"]
    told = right + seen["nameless"] + seen["wrong"]
    rest = [seen[name] for name in ("nameless", "wrong", "died", "nothing")]
    return len(some), told, right, seen["first"], sum(map(is_certain, some)), *rest


def _row(name, numbers):
    return "| " + " | ".join((name, *map(str, numbers))) + " |"


def _share(some, count):
    return f"{some / count:.0%}" if count else "-"


def _missed(faults):
    """A line for each fault that was not told with its function, or beside a wrong one."""
    for one in faults:
        what = WORDS.get(outcome(one), "another function beside it" if accuses(one) else "")
        if what:
            place = f"`{one['function']}` ({one['file']}:{one['line']})"
            yield f"- {one['package']}, {place}, {one['kind']}: {what}"


def _places(bare):
    """(package, kind, method, line) -> what is told of it without a fault."""
    places = {}
    for told in bare:
        for one in told.get("judged", ()):
            key = (told["package"], one["kind"], one["method"], one["source"])
            if key not in places or one["right"]:
                places[key] = one
    return places


def _accused(places):
    for (package, *_), one in places.items():
        word = "right" if one["right"] else "true once" if one["once"] else "wrong"
        sure = "certain" if one["certain"] else "possible"
        yield f"- {package} ({sure}, {word}): {one['said'] or one['reason']}"
