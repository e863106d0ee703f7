"""Run the tests from the wheel, and print what ran where.

    python3 .ci/matrix.py --quick    five minutes over every room on one Python, in two processes
    python3 .ci/matrix.py            all of it on 3.11, `-m core` on 3.14, 3.15 and -X dev, the quick ones of
                                     them on 3.12 and 3.13; adapters on the newest and the oldest release of
                                     each library
    python3 .ci/matrix.py --only whole-3.12      all of core on 3.12; whole-3.13
    python3 .ci/matrix.py --only free-threaded   what works on 3.14t and 3.15t
    python3 .ci/matrix.py --only aarch64         Debian's 3.13 for aarch64, emulated (.ci/aarch64.py)
    python3 .ci/matrix.py --after-quick          all but what --quick has run just before
    python3 .ci/matrix.py --only 3.11 -k refs    the rows whose title begins so, 3.14,3.15: or so; further
                                                 words go to pytest

A skip fails the run unless its reason begins with "cannot be installed" or "not on CPython": whatever can be
installed is installed, so a skipped test is a test that was lost. Up to three failures of a row are run once
more in a fresh process; what passes there is printed as FLAKY (docs/decisions/0007). A row that is killed
fails by the name of the test that ran. Two rows run at a time: each is one process that waits as often as it
computes. Standard library only.
"""

# SPDX-License-Identifier: MIT
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import aarch64
import pythons
import ready
import sid
import system

AGAIN = 0 if os.environ.get("INSPECTOR_SOAK") == "1" else 3
"""Failures of a row that are run once more; none in a soak, which is there to find them."""
AT_ONCE = 1 if os.environ.get("INSPECTOR_SOAK") == "1" else min(2, os.cpu_count() or 1)
"""Rows at a time; a soak has long counts and the machine to itself."""
QUICK = "quick and not libraries and not r and not newest"
WAITING = ("browser", "cli", "cluster", "debugger", "magics", "notebooks", "screens", "tracing")
"""Folders whose tests wait for programs: one of the two processes of the quick rows runs them."""
QUICK_ENDS = ("--timeout", "60", "--maxfail", "20")
"""Where a room is broken as a whole its tests do not wait for their deadlines one after the other."""
QUICK_ROWS = [
    # the waiting ones first; the other process takes every folder that is not named
    ("quick, programs", "3.11", [], ["-m", QUICK, *QUICK_ENDS, *(f"tests/{folder}" for folder in WAITING)]),
    (
        "quick, objects",
        "3.11",
        [],
        ["-m", QUICK, *QUICK_ENDS, *(f"--ignore=tests/{folder}" for folder in WAITING)],
    ),
]
NO_TESTS = 5
"""pytest's exit code where no test was chosen."""
ALLOWED = ("cannot be installed", "not on CPython")
NAMES = ("title", "version", "tests", "passed", "skipped", "failed", "seconds")
ROW = "{title:<22} {version:<8} {tests:>6} {passed:>7} {skipped:>8} {failed:>7} {seconds:>8.1f}"
CORE = "core and not slow and not libraries and not r"
CORE_AND_SMALL = "(core and not libraries and not r) or (small and not slow)"
if os.environ.get("INSPECTOR_SOAK") == "1":
    CORE_AND_SMALL = "(core and not libraries and not r) or small"  # what is compiled by C++ too
C_ROOMS = [f"tests/{room}" for room in ("adapters", "layers", "lazy", "native", "probes", "tracing")]
"""Where, as in leaks, -X dev shows what the row 3.11 does not: Python's debug allocator checks our memory."""
LEAKS, OTHERS = ["tests/leaks"], ["--ignore=tests/leaks"]
"""Leaks are looked for in all memory, which is small in a process that imports nothing else."""
COUNTED = "--ignore=tests/leaks/test_second_reading.py"
"""Not with -X dev: it compares counters, and takes a minute and a half there; three other rows have it."""
ROWS = [
    # title, room, options of python, options of pytest; the longest first: two run at a time
    ("3.11", "3.11", [], OTHERS),
    ("3.14 core", "3.14", [], ["-m", CORE_AND_SMALL, *OTHERS]),
    ("3.15 core", "3.15", [], ["-m", CORE_AND_SMALL, *OTHERS]),
    ("libraries, newest", "libraries", [], ["-m", "(libraries or contract or newest) and not r"]),
    ("libraries, oldest", "libraries-oldest", [], ["-m", "(libraries or contract) and not r"]),
    ("3.11 leaks", "3.11", [], LEAKS),
    ("3.14 core, leaks", "3.14", [], ["-m", CORE_AND_SMALL, *LEAKS]),
    ("3.15 core, leaks", "3.15", [], ["-m", CORE_AND_SMALL, *LEAKS]),
    ("3.11 -X dev", "3.11", ["-X", "dev"], ["-m", CORE, *C_ROOMS]),
    ("3.11 -X dev, leaks", "3.11", ["-X", "dev"], ["-m", CORE, *LEAKS, COUNTED]),
    ("3.12 core, quick", "3.12", [], ["-m", f"quick and ({CORE_AND_SMALL})"]),
    ("3.13 core, quick", "3.13", [], ["-m", f"quick and ({CORE_AND_SMALL})"]),
    ("R", "R", [], ["-m", "r"]),
]
EMULATED = ["--timeout", "1200", *(f"tests/{room}" for room in ("native", "probes", "layers", "lazy"))]
"""Where emulated processor time goes: each test takes some thirty times as long, and there is no ptrace."""
ASKED = [(f"whole-{version}", version, [], ["-m", CORE_AND_SMALL]) for version in ("3.12", "3.13")]
FREE = ["--noconftest", *(f"tests/test_free_threaded{part}.py" for part in ("", "_bytes", "_heap"))]
ASKED += [(f"free-threaded {version}", version, [], FREE) for version in ("3.14t", "3.15t")]
ASKED += [("aarch64", aarch64.ROOM, [], ["-m", f"quick and ({CORE}) and not debugger", *EMULATED])]
"""Rows by `--only` alone: 14 minutes each, free-threaded one each and six to build its Python."""


def main(words):
    """Prepare every room, run every row, print the table; 0 only if nothing failed and nothing was lost."""
    start = time.time()
    if words[:1] in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    rows, words = _chosen(words)
    is_quick = rows is QUICK_ROWS
    if is_quick:
        _ready_at_once()
    elif any(room == "3.11" and not options for _, room, options, _ in rows):  # those in a browser too
        system.ready("chromium")
    absent = {room for _, room, _, _ in rows if room in system.PACKAGES and not system.ready(room)}
    with ThreadPoolExecutor(1) as beside:  # a chroot is fetched while the first rows run
        beside.map(_entering, {room for _, room, _, _ in rows})
        tables = _run_all([one for one in rows if one[1] not in absent], words)
    if is_quick:
        _say_faults(rows)
    table = [one for one in tables if one]
    lost = {title for title, *_ in rows} - {one["title"] for one in table}
    code = report(table, start)
    for title in sorted(lost):
        print(f"LOST     all of {title}: what it needs cannot be had here")
    return code or int(bool(lost))


def _entering(room):
    """The words before a command that runs in a room: those of a chroot where only that has the Python.

    None: the Python cannot be had here.
    """
    if room == aarch64.ROOM:
        return aarch64.entering()
    if room not in sid.VERSIONS or pythons.find(room):
        return []
    return sid.entering(room) or ([] if pythons.install(room) else None)


def _say_faults(rows):
    """Which planted faults the tests that passed are known to find."""
    python = ready.ROOT / ready.ROOMS[rows[0][1]][0] / "bin" / "python"
    files = [_told(row[0]) for row in rows if _told(row[0]).exists()]
    subprocess.call([str(python), "-P", str(ready.ROOT / ".ci" / "faults.py"), "--covered", *map(str, files)])


def _told(title):
    """The junit file of a row."""
    return ready.BUILD / f"tests-{title.replace(' ', '-').replace(',', '')}.xml"


def _ready_at_once():
    """The programs beside Python and the room, at the same time where there is a compiler already."""
    if not shutil.which("gcc"):
        system.ready("")
    with ThreadPoolExecutor(1) as beside:
        programs = beside.submit(lambda: (system.ready(""), system.ready("chromium")))
        ready.main([QUICK_ROWS[0][1]])
        programs.result()


def _chosen(words):
    """The rows that are asked for, and the words that are left for pytest."""
    if words[:1] == ["--quick"]:
        return QUICK_ROWS, words[1:]
    if words[:1] == ["--only"]:
        return [row for row in (*ROWS, *ASKED) if row[0].startswith(tuple(words[1].split(",")))], words[2:]
    if words[:1] == ["--after-quick"]:
        rest = ["-m", f"not ({QUICK}) and not libraries and not r and not newest"]
        plain = [row for row in ROWS if row[1] == "3.11" and not row[2]]  # those of all tests
        return [(*row[:3], [*rest, *row[3]]) if row in plain else row for row in ROWS], words[1:]
    return ROWS, words


def _run_all(rows, words):
    """The table; what has not begun is left out where a room cannot be made ready, or at Ctrl-C."""
    with ThreadPoolExecutor(AT_ONCE if len(rows) > 1 else 1) as pool:
        begun = [pool.submit(row, *one[:3], [*one[3], *words], len(rows) > 1) for one in rows]
        try:
            return [one.result() for one in begun]
        finally:
            for one in begun:
                one.cancel()


def row(title, room, options, words, titled):
    """Make the room ready, run pytest once, and a few failures once more; counts, skips, flaky ones, seconds.

    None where the room's Python cannot be had.
    `titled`: each line it prints begins with the row's title, for rows that run beside each other.
    """
    entering = _entering(room)
    if entering is None:
        return None
    _make_ready(room, entering)
    python = ready.ROOT / ready.ROOMS[room][0] / "bin" / "python"
    name = _told(title).stem
    print(f"\n## Python {title}", flush=True)
    start = time.time()
    # -P: the installed wheel is tested, never the folder we stand in
    command = [*entering, str(python), *options, "-P", "-m", "pytest", "-q", "--durations=4"]
    command += ["-o", f"cache_dir={ready.BUILD / (name + '-cache')}", *_soaked(), *words]
    before = f"{title:<18}| " if titled else None
    code, counts, skips, failed = _run(command, ready.BUILD / f"{name}.xml", before)
    flaky, failures = {}, failed
    if 0 < len(failed) <= AGAIN:
        print(f"\n## Python {title}: what failed, once more in a fresh process", flush=True)
        code, _, _, failures = _run(
            [*command, "--lf", "--lfnf=none"], ready.BUILD / f"{name}-again.xml", before
        )
        failures = failures if code in (0, 1) else failed
        flaky = {test: why for test, why in failed.items() if test not in failures}
    counts["failed"] -= len(flaky)
    counts["passed"] += len(flaky)
    if code not in (0, NO_TESTS) and not failed:
        counts["failed"] += 1
        failures = {_running(ready.BUILD / f"{name}.xml").read_text(): _ended(code)}
    version = subprocess.check_output([*entering, str(python), "-V"], text=True).split()[-1]
    told = {"title": title, "version": version, "seconds": time.time() - start}
    return {**counts, **told, "code": code, "skips": skips, "flaky": flaky, "failures": failures}


def _make_ready(room, entering):
    """Make the room, where its Python is."""
    if room == aarch64.ROOM:
        aarch64.make_ready(entering)
    elif entering:
        subprocess.check_call([*entering, f"python{room}", ".ci/ready.py", room])
    else:
        ready.main([room])


def _run(command, told, before):
    """Exit code, counts, skips with reasons, and failures with what they said, by pytest's junit file."""
    told.unlink(missing_ok=True)
    _running(told).write_text("before the first test")
    command = [*command, "--junitxml", str(told)]
    environment = dict(os.environ, PYTHONHASHSEED="0", INSPECTOR_RUNNING=str(_running(told)))
    given = {"cwd": str(ready.ROOT), "stdin": subprocess.DEVNULL, "env": environment}
    code = subprocess.call(command, **given) if before is None else printed(command, given, before)
    return (code, *_read(told))


def _running(told):
    """The file in which tests/conftest.py writes the test that runs."""
    return told.with_suffix(".running")


def _ended(code):
    """How a row ended of which no test is said to have failed."""
    number = -code if code < 0 else code - 128  # a shell, as that of the chroot, tells signals so
    if number in set(signal.Signals):
        return f"the whole row ended here by {signal.Signals(number).name}: nothing is known of its tests"
    return f"the row ended with exit code {code} after its last test"


def printed(command, given, before):
    """Exit code of a command, each line of whose words is printed behind `before` as it comes."""
    given.update(stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    with subprocess.Popen(command, **given) as child:
        for line in child.stdout:
            print(before + line, end="", flush=True)
    return child.returncode


def _soaked():
    """Of the long form: half an hour a test, and random examples by a seed that is said."""
    if os.environ.get("INSPECTOR_SOAK") != "1":
        return []
    seed = os.environ.get("SEED") or str(random.randrange(1 << 31))
    print(f"seed {seed}: SEED={seed} make soak repeats its examples", flush=True)
    return ["--timeout", "1800", "--hypothesis-seed", seed]


def _read(told):
    """Counts, skip reasons and failures of a junit file; all empty where pytest did not get that far."""
    counts, skips, failed = {"tests": 0, "passed": 0, "skipped": 0, "failed": 0}, [], {}
    if not told.exists():
        return counts, skips, failed
    for case in ElementTree.parse(str(told)).iter("testcase"):
        counts["tests"] += 1
        skipped = case.find("skipped")
        test = f"{case.get('classname')}::{case.get('name')}"
        wrong = [one for what in ("failure", "error") if (one := case.find(what)) is not None]
        if wrong:
            counts["failed"] += 1
            failed[test] = wrong[0].get("message", "").partition("\n")[0][:200]
        elif skipped is not None and skipped.get("type") != "pytest.xfail":
            counts["skipped"] += 1
            skips.append((test, _reason(skipped)))
        else:
            counts["passed"] += 1
    return counts, skips, failed


def _reason(skipped):
    """Why a test was skipped; where a whole file was, junit has the reason in the text only."""
    message, text = skipped.get("message") or "", skipped.text or ""
    return message if message != "collection skipped" else text.partition("Skipped: ")[2].rstrip("')")


def report(table, start):
    """Print the table, the skips and one line in pytest's own words; the exit code."""
    print()
    print(ROW.replace(".1f", "").format(**{name: name for name in NAMES}))
    for line in table:
        print(ROW.format(**line))
    lost = 0
    for line in table:
        for test, reason in line["skips"]:
            allowed = reason.startswith(ALLOWED)
            lost += not allowed
            print("skipped" if allowed else "LOST   ", f" {line['title']}  {test}: {reason}")
    for line in table:
        for test, why in line["flaky"].items():
            print(f"FLAKY    {line['title']}  {test}: failed in the run, passed in a fresh process ({why})")
        for test, why in line["failures"].items():
            print(f"FAILED   {line['title']}  {test}: {why}")
    if lost:
        print(f"{lost} skipped where the thing can be installed: `make system` says how.")
    totals = {key: sum(line[key] for line in table) for key in ("passed", "failed", "skipped")}
    words = ", ".join(f"{totals[key]} {key}" for key in ("failed", "passed", "skipped") if totals[key])
    print(f"===== {words or 'no tests ran'} in {time.time() - start:.2f}s =====", flush=True)
    codes = {line["code"] for line in table} - {NO_TESTS}  # of a row that further words leave nothing
    return int(lost > 0 or codes != {0})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
