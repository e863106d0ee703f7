"""Locks of `_thread`, free and held."""

# SPDX-License-Identifier: MIT
import threading
from typing import Any


def samples() -> list[Any]:
    free, held, again = threading.Lock(), threading.Lock(), threading.RLock()
    held.acquire()
    again.acquire()
    return [free, held, threading.RLock(), again]
