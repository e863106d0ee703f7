"""The second reading: what further calls leave, counted without the ledger; and leaks that one run hides."""

# SPDX-License-Identifier: MIT
import contextlib
import re
from collections.abc import Callable

import leak_corpus
import pytest
import specimens

import inspector
from inspector.facts.leaks import FurtherCalls, Leaks, Verdict
from inspector.facts.unknown import Unknown
from inspector.ledger.second_reading import grown
from inspector.verdicts.growth import over_runs
from inspector.verdicts.second_reading import LEAVING, agreed

pytestmark = pytest.mark.core
CALLS = 100


def calling(name: str) -> Callable[[], None]:
    function = getattr(specimens.build("leak_corpus", leak_corpus.SOURCE), name)
    x = leak_corpus.argument(name)

    def call() -> None:
        with contextlib.suppress(Exception):
            function(x)

    return call


@pytest.mark.parametrize("name", [name for name, (kind, _) in leak_corpus.FAULTS.items() if kind in LEAVING])
def test_every_leak_of_the_corpus_is_seen_by_both_readings(name: str) -> None:
    left = grown(calling(name), CALLS)
    of_type = dict(left.references).get(f"leak_corpus.{leak_corpus.FAULTS[name][1]}", 0)
    of_type += dict(left.references).get(leak_corpus.FAULTS[name][1], 0)
    assert max(left.blocks, of_type) >= CALLS


@pytest.mark.parametrize("name", ["cached_in_static", "many_temporaries", "buffer_released"])
def test_nothing_honest_leaves_anything(name: str) -> None:
    assert grown(calling(name), CALLS) == FurtherCalls(CALLS, 0, 0, ())


def test_a_leak_that_further_calls_do_not_show_is_possible() -> None:
    lose, calls = calling("value_not_released"), []

    def for_a_while() -> None:
        calls.append(None)
        if len(calls) <= 10:
            lose()

    (one,) = inspector.leaks("leak_corpus").run(lose, confirm=True)
    assert one.certain and re.search("; 200 further calls left 2[0-9][0-9] blocks$", one.reason)
    (one,) = inspector.leaks("leak_corpus").run(for_a_while, confirm=True)
    assert not one.certain and one.reason.endswith("; but 200 further calls left nothing of it")


def fact(*verdicts: Verdict) -> Leaks:
    return Leaks(verdicts, (), 0, 0, 0, 0, 1, 0, 0, 0, 0)


LOST = Verdict("leaked", "str 'k'", True, 1, 1, Unknown("a macro"), (), "m.f", "rule", "cure", "1 owner")


def test_what_only_the_calls_show_is_a_note() -> None:
    told = agreed(fact(), FurtherCalls(200, 0, 6400, (("m.Thing", 200),)))
    left = "6,400 B of malloc, 200 references to one m.Thing"
    assert told.notes == (f"200 further calls left {left}, and no verdict says why",)
    assert agreed(fact(LOST), FurtherCalls(200, 0, 6400, ())).verdicts[0].certain is False


def test_one_run_of_three_does_not_hide_a_certain_leak() -> None:
    for hidden in range(3):
        runs = [fact(*(() if run == hidden else (LOST,))) for run in range(3)]
        (one,) = over_runs(runs, None)
        assert one.certain and one.reason.endswith("; again in 2 of 3 runs")
    told = over_runs([fact(LOST), fact(), fact()], None)
    assert told.verdicts == () and "seen in some runs only" in told.notes[0]
