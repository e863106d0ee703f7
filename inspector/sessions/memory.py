"""Where the memory of a process went."""

# SPDX-License-Identifier: MIT
from collections.abc import Mapping

from inspector.facts.account import Account


def memory(
    pid: int = 0,
    *,
    largest: int = 0,
    names: Mapping[int, str] | None = None,
    known: Mapping[int, str] | None = None,
) -> Account:
    """Return what every resident byte of this process is for; of another process what /proc tells.

    `largest`: so many of the largest objects are told with the path that holds each (8 at most). `names`: id
    of a dict -> the user's name for it; `known`: the same of objects.
    Raises InspectorError `ptrace-forbidden` and TargetGone `no-process` for another process. Example:
    `inspector.memory().row("free").resident_bytes`.
    """
    from inspector.objects.probes.account import account
    from inspector.verdicts.answers.account import with_answers

    return with_answers(account(pid, names, largest, known))
