"""Objects that the adapter `futures_pending` is tried on."""

# SPDX-License-Identifier: MIT
from concurrent.futures import Future


def samples():
    """Pending, running, finished, cancelled."""
    made = [Future() for _ in range(4)]
    made[1].set_running_or_notify_cancel()
    made[2].set_result(5)
    made[3].cancel()
    yield from made
