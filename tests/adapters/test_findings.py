"""The dangers that only libraries make, each on an object that has it and on its neighbour that has not."""

# SPDX-License-Identifier: MIT
from typing import Any

import numpy as np
import pytest
from asking import Look

import inspector

pytestmark = pytest.mark.libraries


def slugs(fact: Any) -> set[str]:
    return {one.slug for one in fact.findings}


def test_writes_that_torch_cannot_notice(torch: Any, look: Look) -> None:
    mine = np.arange(8.0)
    assert slugs(look(torch.from_numpy(mine))) == {"unnoticed-write"}
    assert slugs(look(torch.frombuffer(bytearray(64), dtype=torch.float64))) == {"unnoticed-write"}
    for own in (torch.tensor(mine), torch.from_numpy(mine).clone(), torch.ones(8)[2:]):
        assert slugs(look(own)) == set()
    tensor = torch.from_numpy(mine)
    assert "unnoticed-write" in slugs(inspector.aliases(mine, names={id(tensor): "t"}))


def test_storage_that_was_freed_and_one_that_was_not(torch: Any, look: Look) -> None:
    gone, kept, shrunk = torch.ones(8), torch.ones(8), torch.ones(8)
    gone.untyped_storage().resize_(0)
    shrunk.untyped_storage().resize_(16)
    for freed in (gone, shrunk):
        assert (look(freed).state, slugs(look(freed))) == ("freed", {"freed-storage"})
    assert slugs(look(shrunk[:4])) == set(), "these four are still there"
    assert slugs(look(kept)) == slugs(look(torch.ones(0))) == set()


def test_an_array_that_pyarrow_takes_to_be_immutable(pa: Any, look: Look) -> None:
    mine, frozen = np.arange(8.0), np.arange(8.0)
    frozen.flags.writeable = False
    assert slugs(look(pa.array(mine))) == slugs(look(pa.table({"a": mine}))) == {"unnoticed-write"}
    assert slugs(look(pa.array(frozen))) == slugs(look(pa.array([1.0]))) == set()


def test_an_alias_of_jax_and_a_copy(jax: Any) -> None:
    raw = np.empty(64 + 16, "u1")
    start = -raw.__array_interface__["data"][0] % 64  # jax aliases what lies at a multiple of 64
    mine, other = raw[start : start + 16].view("f4"), np.ones(4, "f4")
    alias, copy = jax.device_put(mine), jax.numpy.array(other, copy=True)
    names = {id(mine): "mine", id(alias): "alias", id(other): "other", id(copy): "copy"}
    found = inspector.aliases(mine, names=names)
    told = inspector.materialization(alias).span_bytes == 16  # jax before 0.10 tells no address
    if told and alias.unsafe_buffer_pointer() == mine.__array_interface__["data"][0]:
        assert "unnoticed-write" in slugs(found)
    assert inspector.aliases(other, names=names).findings == ()


def test_a_slice_of_arrow_s_buffers_says_what_it_keeps(pa: Any) -> None:
    """Checked by deleting: the pool frees the whole only with the slice."""
    whole = pa.array(range(100_000))
    part = whole[10:20]
    said = [row.text for row in inspector.inspect(part, name="part").answers.rows]
    assert said == ["While `part` lives, all 800 kB of its buffers stay; it shows 80 B of them."]
    del whole
    before = pa.total_allocated_bytes()
    del part
    assert before - pa.total_allocated_bytes() >= 800_000


def test_an_array_of_numpy_that_only_arrow_holds_can_be_written_by_nobody(pa: Any) -> None:
    mine = np.arange(8.0)
    halves = pa.chunked_array([pa.array(mine)[:4], pa.array(mine)[4:]])
    table = pa.table({"a": np.arange(8.0), "b": np.arange(8.0)})  # an assert would keep them
    assert inspector.materialization(table).findings == ()
    assert slugs(inspector.materialization(halves)) == {"unnoticed-write"}


def test_a_part_of_a_column_of_categories_keeps_them_all() -> None:
    """And the advice drops them."""
    pd = pytest.importorskip("pandas")
    column = pd.Series([f"v{n}" for n in range(100)]).astype("category")
    part = column[:3]
    report = inspector.inspect(part, name="part")
    (row,) = [one for one in report.answers.rows if one.slug == "keeps-categories"]
    advice = "part.cat.remove_unused_categories()"
    assert row.text == f"Keeps all 100 categories for its 3 values: `{advice}` drops the others."
    assert len(eval(advice).cat.categories) == 3
    assert all(one.slug != row.slug for one in inspector.inspect(column, name="column").answers.rows)
