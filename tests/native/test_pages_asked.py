"""Which pages exist is asked of the kernel by the best way it has, and every way finds the same owners."""

# SPDX-License-Identifier: MIT
import errno
import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
import refused_calls
from apart import ran

pytestmark = [pytest.mark.core, pytest.mark.quick]

PAGEMAP_SCAN = 0xC0606610
"""_IOWR('f', 16, struct pm_scan_arg): linux/fs.h since Linux 6.7."""
NEW_KERNEL = tuple(int(part) for part in os.uname().release.split(".")[:2]) >= (6, 7)

LOOK = """
import json, mmap, sys
sys.path.insert(0, {specimens!r})
import refused_calls
from inspector._native import Subject, scan_words
from inspector.objects.probes.refs import owners

class Thing: pass
class Holder: pass
thing, holder = Thing(), Holder()
holder.kept = listed = [0] * 3000 + [thing]
named = {{"key": thing, thing: (1, thing)}}
reserved = mmap.mmap(-1, 64 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
reserved[0] = 1
subject = Subject(thing)
del thing
for told in {refusals!r}:
    refused_calls.refuse(*told)
found = owners(subject, scan=True)
rows = sorted((one.kind, one.holder, one.key, one.references, one.certain) for one in found)
*_, not_read, _ = scan_words([(1 << 62, (1 << 62) + 8)])
print(json.dumps([found.references, found.named, found.unstored, rows, not_read]))
"""


def looked(*refusals: tuple[int, ...]) -> subprocess.CompletedProcess[str]:
    """A process that looks for owners under these refusals."""
    return ran("-c", LOOK.format(specimens=str(Path(refused_calls.__file__).parent), refusals=refusals))


def said(*refusals: tuple[int, ...]) -> Any:
    told = looked(*refusals)
    assert told.returncode == 0, told.stderr
    return json.loads(told.stdout)


NO_SCAN = (refused_calls.ERRNO | errno.ENOTTY, refused_calls.IOCTL, PAGEMAP_SCAN)
NO_TABLE = (refused_calls.ERRNO | errno.EPERM, refused_calls.PREAD)


def test_every_way_finds_the_same_owners() -> None:
    *by_scan, not_read = said()
    *by_table, not_read_by_table = said(NO_SCAN)
    *by_neither, _ = said(NO_SCAN, NO_TABLE)
    assert by_scan == by_table == by_neither
    references, named, unstored, rows = by_scan
    assert (references, named, unstored) == (4, 4, 0)
    # words of the C stack are possible owners: what stands there depends on the compiler
    assert {(kind, key) for kind, _, key, _, certain in rows if certain} == {
        ("item", "['key']"), ("item", "[1]"), ("item", "[3000]"), ("item", "key <Thing>"),
    }  # fmt: skip
    assert min(not_read, not_read_by_table) > 62 << 20, "the pages nobody touched are left alone"


@pytest.mark.skipif(not NEW_KERNEL, reason="cannot be installed: PAGEMAP_SCAN came with Linux 6.7")
def test_the_kernels_own_scan_is_used_where_there_is_one() -> None:
    """A process that is killed at that call dies there."""
    killed = looked((refused_calls.KILL, refused_calls.IOCTL, PAGEMAP_SCAN))
    assert killed.returncode == -signal.SIGSYS, killed.stderr
