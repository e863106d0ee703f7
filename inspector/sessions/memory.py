"""Where the memory of a process went."""

# SPDX-License-Identifier: MIT
from inspector.facts.account import Account


def memory(pid: int = 0) -> Account:
    """Return what every resident byte of this process is for; of another process what /proc tells.

    Raises InspectorError `ptrace-forbidden` and TargetGone `no-process` for another process. Example:
    `inspector.memory().row("free").resident_bytes`.
    """
    from inspector.objects.probes.account import account
    from inspector.verdicts.answers.account import with_answers

    return with_answers(account(pid))
