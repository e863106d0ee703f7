"""check-altrep finds the article's mistake and a planted one in each method, and none in honest classes."""

# SPDX-License-Identifier: MIT
import json
import subprocess
import sys
from pathlib import Path

import pytest
import r_libraries
import reticulated

pytestmark = [pytest.mark.r, pytest.mark.timeout(120)]
INSPECTOR = str(Path(sys.executable).parent / "inspector")
FAULTS = {
    "elt": "Elt gives the elements: element 2: 9, others say 8",
    "region_lazy": "Get_region leaves it lazy: afterwards all elements are in memory",
    "region_start": "Get_region begins where it is told: element 1: 6, others say 8",
    "region_count": "Get_region returns how many it gave: start 4, count 5: returned 5, not 1",
    "region_end": "Get_region writes only what was asked for: it wrote behind the buffer's end",
    "dataptr": "Dataptr gives the elements: element 2: 9, others say 8",
    "dataptr_moves": "Dataptr gives one pointer: two calls gave two pointers",
    "or_null": "Dataptr_or_null leaves it lazy: afterwards all elements are in memory",
    "sum": "Sum is that of the elements: 22, the elements say NA",
    "min": "Min is that of the elements: 0, the elements say 2",
    "min_crash": "Min returns: crashed with signal 11",
    "max": "Max returns: error: Error: no maximum",
    "no_na": "No_NA is true only without NA: element 2 is NA",
    "is_sorted": "Is_sorted is true: says increasing; element 2 is not",
    "subset": "Extract_subset gives the elements: element 5: 6, others say 4",
    "subset_na": "Extract_subset gives NA outside: index behind the end gave a value",
    "duplicate": "Writing to a duplicate changes only it: element 1: 0, others say 6",
    "serialize": "Serialize gives the elements: 0 elements, 5 were asked for",
}
"""Planted fault -> the clause that tells it."""


def checked(*expressions: str) -> tuple[int, dict[str, str]]:
    """(exit code, broken clause -> what was seen) of the last expression's value."""
    words = [word for text in expressions for word in ("-e", text)]
    done = subprocess.run(
        [INSPECTOR, "check-altrep", "--json", "--", reticulated.rscript(), *words],
        capture_output=True,
        text=True,
    )
    assert done.stdout, done.stderr
    clauses = json.loads(done.stdout)["facts"]["contract"]["clauses"]
    return done.returncode, {one["name"]: one["evidence"] for one in clauses if one["holds"] is False}


def loaded(name: str) -> str:
    return f"dyn.load('{r_libraries.built(name)}')"


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_mistake_is_found(fault: str) -> None:
    values = "c(3, 4, 1, 5, 2)" if fault in ("elt", "dataptr", "region_start", "min") else "c(3, NA, 1, 5, 2)"
    made = f".Call('twice', {values}, '{fault}')"
    code, broken = checked(loaded("altrep_faults"), made)
    said = [f"{name}: {seen}" for name, seen in broken.items()]
    assert code == 1 and any(one.startswith(FAULTS[fault]) for one in said), said
    assert len({one.partition(" ")[0] for one in said}) <= 2, said


def test_the_article_s_mistake_is_found() -> None:
    made = ".Call('lazy_abs', c(-1, 2, -3, 4), TRUE)"
    code, broken = checked(loaded("altrep_classes"), made)
    assert code == 1 and "Get_region leaves it lazy" in broken and "Get_region gives the elements" in broken
    assert broken["Get_region returns how many it gave"] == "start 1, count 2: returned 3, not 2"
    assert all(name.startswith("Get_region") for name in broken)


@pytest.mark.parametrize("values", ["c(3, NA, 1, 5, 2)", "c(1, 2, 3)", "c(NaN, NA)", "1"])
def test_a_class_that_keeps_its_contract_is_not_blamed(values: str) -> None:
    assert checked(loaded("altrep_faults"), f".Call('twice', {values}, '')") == (0, {})
    assert checked(loaded("altrep_classes"), f".Call('lazy_abs', {values}, FALSE)") == (0, {})


def test_classes_of_r_and_of_vroom_are_not_blamed(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b,c\n" + "".join(f"{n}.5,{9 - n},t{n}\n" for n in range(9)))
    how = "altrep = TRUE, progress = FALSE, delim = ',', col_types = 'dic'"
    read = f"d <- vroom::vroom('{tmp_path}/t.csv', {how})"
    for made in ("1:10", "as.numeric(9:1)", "as.character(1:4)", "sort(c(3, 1, 2))"):
        assert checked(made) == (0, {})
    for column in ("d$a", "d$b", "d$c"):
        assert checked(read, column) == (0, {})


def test_a_plain_vector_is_refused() -> None:
    done = subprocess.run(
        [INSPECTOR, "check-altrep", "--", reticulated.rscript(), "-e", "c(1, 2)"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2 and "no-altrep" in done.stderr
