"""R's own objects, looked at from R: nothing is converted, and what was lazy stays lazy."""

# SPDX-License-Identifier: MIT
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import r_libraries
import reticulated

from inspector.verdicts.r_objects import USES

pytestmark = [pytest.mark.r, pytest.mark.timeout(300)]
MAKES = {
    "compact_intseq": "1:50",
    "compact_realseq": "as.numeric(1:50)",
    "deferred_string": "as.character(1:50)",
}


@pytest.fixture(scope="module")
def cards(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Name -> the card that R printed, its spaces made one."""
    classes = r_libraries.SEEDS / "altrep_classes" / "altrep_classes.R"
    load = tmp_path_factory.mktemp("r") / "load.R"
    built = r_libraries.built("altrep_classes").with_suffix("")
    load.write_text(f"altrep_classes <- '{built}'\nsource('{classes}')\n")
    script = Path(__file__).with_name("r_objects.R")
    done = subprocess.run(
        [reticulated.rscript(), str(script), str(load)], capture_output=True, text=True, timeout=200,
        env={**os.environ, "RETICULATE_PYTHON": sys.executable}, cwd=load.parent,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    parts = re.split(r"^# (\w+) *\n", done.stdout, flags=re.M)[1:]
    assert max(len(line) for line in done.stdout.splitlines()) <= 120
    return {name: " ".join(text.split()) for name, text in zip(parts[::2], parts[1::2], strict=True)}


def test_a_compact_sequence_is_told_and_stays_compact(cards: dict[str, str]) -> None:
    card = cards["sequence"]
    assert card.startswith(
        "x integer(1,000,000) A compact sequence 1 : 1,000,000 (ALTREP): 136 B; 0 of 4.0 MB"
    )
    assert "cumsum(x) and x[x > 3] will materialize it; sum(x), mean(x)" in card
    assert "class compact_intseq of base" in card and "held by x" in card
    assert cards["compact"].endswith("1 : 1000000 (compact)")


def test_r_counts_the_bytes_of_a_sequence_as_the_card_does(cards: dict[str, str]) -> None:
    """R's gc: two nodes and four words of data each; a node is 56 B, the header of a vector 48 B."""
    script = """x <- vector("list", 100000L); used <- function() { gc(FALSE); gc(FALSE)[1:2, 1] }
used(); before <- used(); for (i in seq_along(x)) x[[i]] <- 1:i; cat(round((used() - before) / length(x)))"""
    done = subprocess.run([reticulated.rscript(), "-e", script], capture_output=True, text=True, check=True)
    nodes, words = map(int, done.stdout.splitlines()[-1].split())
    assert nodes == 2 and f"(ALTREP): {56 + 48 + words * 8} B;" in cards["sequence"]


def test_a_card_of_a_copy_says_how_to_look_at_r_s_own(cards: dict[str, str]) -> None:
    told = "A copy that reticulate made of R's integer(1,000,000), a compact sequence 1 : 1,000,000"
    assert told in cards["by_reticulate"] and "source(inspector$r())" in cards["by_reticulate"]
    assert cards["by_reticulate"].startswith("1:1e+06 list (1,000,000 items)")
    assert "A copy that reticulate made" not in cards["python"] and "list (" in cards["python"]


def test_holders_values_and_shared_bytes(cards: dict[str, str]) -> None:
    assert "values 1 2 NA bytes 80 B REF 3 held by v, l$a, z in f()" in cards["plain"]
    assert "values NA NaN Inf -Inf bytes" in cards["numbers"]
    assert "values 1-2i NA bytes" in cards["complex"]
    assert "Python's shown shows its 32 B: the same bytes, no copy." in cards["shared"]
    assert "Writing to m copies 32 B first: 2 references." in cards["shared"]
    memory = cards["memory"]
    assert "x integer(1,000,000), compact sequence" in memory and "136 B 4.0 MB" in memory


def test_elements_are_shown_as_their_class_prints_them(cards: dict[str, str]) -> None:
    assert "factor, integer(4) " in cards["factor"] and " values low high NA low bytes" in cards["factor"]
    assert " values 2026-02-28 NA bytes" in cards["dates"]
    assert " values 2026-02-28 23:59:01 UTC NA bytes" in cards["times"]
    assert "data.frame, list(2) " in cards["frame"]
    assert " values a=double(2) b=character(2) bytes" in cards["frame"]


def test_functions_calls_and_environments_show_what_they_hold(cards: dict[str, str]) -> None:
    assert " values a b=2 f=function(…) ... bytes" in cards["closure"]
    assert " values `+`(a, `*`(b, f(1, n=c))) bytes" in cards["language"]
    assert " values key bytes" in cards["environment"]


def test_lazy_classes_of_r_and_of_a_package(cards: dict[str, str]) -> None:
    assert "over a compact sequence 1 : 10 (ALTREP): 1 of 10 elements are made so far" in cards["strings"]
    assert 'values (not made) (not made) "3"' in cards["strings"]
    assert "A class lazy_abs of altrep_classes (ALTREP): " in cards["class"]
    assert (
        "0 of 16 B materialized." in cards["class"] and "materialized: its 16 B are in" in cards["class_made"]
    )
    assert " values 1 2 3 4 5 6 … bytes 20 kB" in cards["ordered"], "not what the wrapper knows of the order"
    assert "0 of 400 B materialized" in cards["doubles"] and "values" not in cards["doubles"]
    assert " values " not in cards["class"] and "values 1 2 bytes" in cards["class_made"]
    assert cards["html"] == "<div"


def test_a_block_says_what_crossed_and_what_was_materialized(cards: dict[str, str]) -> None:
    told = cards["trace"]
    assert "2 list <- r_to_py(w) R → Python numeric(2) → list" in told
    assert "4 lost <- r_to_py(NA) R → Python logical → bool LOST NA → True" in told
    assert "1 seq <- 1:1000 seq: compact integer(1,000) 0 of 4.0 kB made" in told
    assert "3 more <- seq + 1L seq MATERIALIZED 4.0 kB" in told and cards["value"].startswith("[1] 501500")
    assert "1 conversion in 1 line of R." in cards["value"], "of the block that failed: its error comes after"
    assert cards["after"] == "[1] TRUE"


def test_what_materializes_r_s_own_classes_does_so(tmp_path: Path) -> None:
    """Each expression of the table on a fresh vector, judged by R's own inspect."""
    lines = [
        "lazy <- function(x) { t <- capture.output(.Internal(inspect(x)))",
        '  grepl("(compact)", t[1], fixed = TRUE) || (grepl("deferred", t[1]) && length(t) == 2L) }',
    ]
    expected = []
    for name, (made, kept) in USES.items():
        for text in (*made, *kept):
            lines.append(
                f"x <- {MAKES[name]}; invisible(capture.output({text})); cat('{name}', lazy(x), '\\n')"
            )
            expected.append(f"{name} {'FALSE' if text in made else 'TRUE'}")
    (tmp_path / "uses.R").write_text("\n".join(lines))
    done = subprocess.run([reticulated.rscript(), "uses.R"], capture_output=True, text=True, cwd=tmp_path)
    assert [line.strip() for line in done.stdout.splitlines()] == expected, done.stderr
