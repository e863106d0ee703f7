"""`inspector catalogue`: a library called now, what was found saved, asked for, and written as a page."""

# SPDX-License-Identifier: MIT
import json
from pathlib import Path

import pytest

from inspector.faces.cli import main
from inspector.sessions.catalogue import stored


def told(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main(["catalogue", *words])
    found = capsys.readouterr()
    return code, found.out + found.err


@pytest.mark.quick
def test_called_saved_and_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, said = told(capsys, "numpy", "--only", "np.ravel", "--save", str(tmp_path))
    assert code == 0 and "copy if Fortran-contiguous or with gaps, else view" in said
    monkeypatch.setattr(stored, "FOLDER", tmp_path)
    code, again = told(capsys, "np.ravel", "--json")
    (rule, *_) = json.loads(again)["facts"]["catalogue"]["rules"]
    assert (rule["call"], rule["did"]) == (
        "np.ravel(x)",
        "copy if Fortran-contiguous or with gaps, else view",
    )
    assert "1 operation" in told(capsys)[1]
    page = tmp_path / "page.html"
    assert told(capsys, "--page", str(page))[0] == 0
    assert "<h2>Counts</h2>" in page.read_text() and 'id="search"' in page.read_text()


def test_a_wrong_name_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = told(capsys, "numpy", "--only", "numpy.nosuch")
    assert code == 2 and said.startswith("inspector: numpy has no operation 'numpy.nosuch'.")
    assert told(capsys, "nosuchlibrary")[1].startswith("inspector: nosuchlibrary cannot be imported.")
    code, said = told(capsys, "nosuch.thing")
    assert code == 2 and "no operation of the catalogue is called 'nosuch.thing'" in said
