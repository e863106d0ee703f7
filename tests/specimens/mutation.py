"""Real extensions, mutated: what a debug build of CPython proves faulty, and what `leaks` finds of it.

    make mutants                                          # all of them: hours; goes on where it was stopped
    python -P tests/specimens/mutation.py --only immutables --most 60 --seed 1

Each extension is as its authors released it but for one place (mutants.py). A mutant is tried on the
quickest tests of the extension's own that reach its place. Proved faulty: `sys.gettotalrefcount` of Debian's
python3-dbg grows, or falls, in each of three runs of them (CPython's -R), or the run dies or hangs. Found:
one run of the same tests under `leaks` gives a verdict. Survivors are listed with file and line. Nobody is
accused in the runs without a mutation. Answers are kept in build/mutation, a line each.
"""

# SPDX-License-Identifier: MIT
import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from mutants import VARIABLE, Mutant
from mutated import BUILD, DEBUG, EXTENSIONS, Extension, built, fetched

RUN = Path(__file__).with_name("mutant_run.py")
TESTS = 6
"""Tests of one mutant."""
SECONDS = {"places": 600.0, "counts": 60.0, "leaks": 240.0}
"""Deadlines of one answer."""
STOPPED = 1000

Answer = tuple[int, object]
"""Exit code (below zero: a signal; STOPPED: the deadline), and what was told."""


class Server:
    """One process that answers for many mutants, and is begun again where it died."""

    def __init__(self, one: Extension, mode: str, chosen: int = 0) -> None:
        python = DEBUG if mode == "counts" else sys.executable
        self.mode = mode
        words = [python, "-P", str(RUN), mode, one.name, one.module, str(fetched(one)), *one.tests]
        environment = {
            **os.environ, VARIABLE: str(chosen), "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1",
        }  # fmt: skip
        pipe = subprocess.PIPE
        self.child = subprocess.Popen(
            words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=environment
        )

    def ask(self, number: int, tests: tuple[str, ...]) -> Answer:
        """Run the tests with this mutant; below zero: with that which the environment chose."""
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        print(json.dumps([number, tests, SECONDS[self.mode]]), file=self.child.stdin, flush=True)
        line = self.child.stdout.readline()
        code, told = json.loads(line) if line else (self.child.wait(), None)
        return code, told

    def close(self) -> None:
        """End it."""
        assert self.child.stdin is not None
        self.child.stdin.close()
        self.child.wait()


@dataclass(frozen=True, slots=True)
class Reach:
    """Which tests reach which place; of those whose counts are even without a mutation."""

    at_import: frozenset[int]
    tests: tuple[tuple[str, float, frozenset[int]], ...]

    def of(self, place: int) -> tuple[str, ...]:
        """The quickest tests that reach a place."""
        found = sorted((seconds, name) for name, seconds, places in self.tests if place in places)
        return tuple(name for _, name in found[:TESTS])


class Trial:
    """One extension: servers a thread, answers kept in files."""

    def __init__(self, one: Extension, folder: Path) -> None:
        self.one, self.folder = one, folder
        self.servers = threading.local()
        self.lock = threading.Lock()
        self.known: dict[str, dict[str, Answer]] = {}
        self.reach = self._reached()

    def _calm(self, tests: list[str]) -> set[str]:
        """Tests that leave the debug build's count as it was."""
        return {name for name in tests if not proof(self.answer("counts", 0, (name,)))}

    def _reached(self) -> Reach:
        """Found once and kept: which tests are the quickest varies, and answers are kept by their tests."""
        text = (fetched(self.one) / self.one.source).read_bytes() + repr(self.one.tests).encode()
        file = self.folder / f"{self.one.name}-places-{hashlib.sha256(text).hexdigest()[:8]}.json"
        if not file.exists():
            server = Server(self.one, "places")
            code, rows = server.ask(0, self.one.tests)
            server.close()
            assert isinstance(rows, list), f"the tests of {self.one.name} end with {code}"
            calm = self._calm([name for name, *_ in rows[1:]])
            file.write_text(json.dumps([rows[0], *(row for row in rows[1:] if row[0] in calm)]))
        rows = json.loads(file.read_text())
        sets = [(name, seconds, frozenset(places)) for name, seconds, places in rows]
        return Reach(sets[0][2], tuple(sets[1:]))

    def answer(self, mode: str, number: int, tests: tuple[str, ...], *, at_import: bool = False) -> Answer:
        """As kept, or asked now and kept."""
        key = json.dumps([number, tests])
        kept = self._kept(mode)
        if key not in kept:
            given = self._apart(mode, number, tests) if at_import else self._served(mode, number, tests)
            with self.lock:
                kept[key] = given
                with self._file(mode).open("a") as file:
                    print(json.dumps([key, given]), file=file)
        return kept[key]

    def _file(self, mode: str) -> Path:
        return self.folder / f"{self.one.name}-{mode}.jsonl"

    def _kept(self, mode: str) -> dict[str, Answer]:
        with self.lock:
            if mode not in self.known:
                file = self._file(mode)
                lines = file.read_text().splitlines() if file.exists() else []
                self.known[mode] = {key: tuple(given) for key, given in map(json.loads, lines)}
        return self.known[mode]

    def _apart(self, mode: str, number: int, tests: tuple[str, ...]) -> Answer:
        server = Server(self.one, mode, number)
        try:
            return server.ask(-1, tests)
        finally:
            server.close()

    def _served(self, mode: str, number: int, tests: tuple[str, ...]) -> Answer:
        server: Server = getattr(self.servers, mode, None) or Server(self.one, mode)
        setattr(self.servers, mode, server)
        return server.ask(number, tests)


def proof(given: Answer) -> str:
    """Why the debug build calls it faulty; "" where it does not."""
    code, told = given
    if code == STOPPED:
        return "hangs"
    if code:
        return f"dies of {code}"
    assert isinstance(told, list)
    same = all(change > 0 for change in told) or all(change < 0 for change in told)
    return f"counts {told}" if same else ""


@dataclass(frozen=True, slots=True)
class Judged:
    """One mutant: what proves it faulty, and what `leaks` answered."""

    mutant: Mutant
    proof: str
    answer: Answer

    @property
    def verdicts(self) -> list[tuple[str, bool, str, str, str]]:
        """Kind, whether certain, object, method, place of the conversion."""
        told = self.answer[1]
        return told if isinstance(told, list) else []


def judge(trial: Trial, mutant: Mutant) -> Judged:
    """Ask both."""
    place = mutant.place
    at_import = place in trial.reach.at_import
    tests = trial.reach.of(place) or (trial.reach.tests[0][0],) * at_import
    if not tests:
        return Judged(mutant, "", (0, []))
    why = proof(trial.answer("counts", mutant.number, tests, at_import=at_import))
    found = trial.answer("leaks", mutant.number, tests, at_import=at_import) if why else (0, [])
    return Judged(mutant, why, found)


def report(trial: Trial, mutants: tuple[Mutant, ...], jobs: int) -> None:
    """Judge them; a line each survivor, and the sum."""
    one, reach = trial.one, trial.reach
    reached = reach.at_import.union(*(places for _, _, places in reach.tests))
    faulty = caught = certain = 0
    with ThreadPoolExecutor(jobs) as pool:
        for done in pool.map(lambda mutant: judge(trial, mutant), mutants):
            faulty += bool(done.proof)
            caught += bool(done.verdicts)
            certain += any(one[1] for one in done.verdicts)
            if done.proof and not done.verdicts:
                said = f"{done.proof}; leaks: exit {done.answer[0]}"
                print(f"   survives {one.source}:{done.mutant.line} {done.mutant} [{said}]", flush=True)
    of = sum(mutant.place in reached for mutant in mutants)
    share = f" ({caught / faulty:.0%})" if faulty else ""
    print(
        f"{one.name}: {len(mutants)} mutants, {of} of them reached by a test, {faulty} proved faulty, "
        f"{caught} found{share}, {certain} with a certain verdict",
        flush=True,
    )


def innocent(trial: Trial) -> list[object]:
    """What is said of the extension without a mutation: nothing."""
    code, told = trial.answer("leaks", 0, trial.one.tests)
    return [code, told] if code or told else []


def main() -> None:
    """Judge all, or a sample, of each extension's mutants, and print what was found."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--only")
    parser.add_argument("--most", type=int, default=1 << 30, help="so many of each, chosen by --seed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--numbers", type=int, nargs="*", help="these mutants")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--folder", type=Path, default=BUILD, help="where answers are kept")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for one in EXTENSIONS:
        if options.only in (None, one.name):
            mutants = built(one)
            trial = Trial(one, options.folder)
            said = innocent(trial)
            print(f"== {one.release}: {len(mutants)} mutants; accused unmutated: {said}", flush=True)
            if options.numbers:
                mutants = tuple(mutant for mutant in mutants if mutant.number in options.numbers)
            chosen = random.Random(options.seed).sample(mutants, min(options.most, len(mutants)))
            report(trial, tuple(chosen), options.jobs)


if __name__ == "__main__":
    main()
