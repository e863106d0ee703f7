"""Our dataclass is the standard one: equality, hash, repr, frozen, fields, copies."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle

import pytest

from inspector.facts.record import dataclass
from inspector.facts.unknown import Unknown

pytestmark = [pytest.mark.core, pytest.mark.quick]


@dataclass(frozen=True, slots=True)
class Ours:
    a: int
    b: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Theirs:
    a: int
    b: tuple[int, ...] = ()


def test_it_behaves_as_the_standard_one() -> None:
    for kind in (Ours, Theirs):
        x = kind(1, (2,))
        assert x == kind(1, (2,)) and x != kind(2) and x != (1, (2,)) and not hasattr(x, "__dict__")
        assert hash(x) == hash((1, (2,))) and len({x, kind(1, (2,))}) == 1
        assert repr(x) == f"{kind.__name__}(a=1, b=(2,))"
        assert dataclasses.replace(x, a=3) == kind(3, (2,)) and dataclasses.asdict(x) == {"a": 1, "b": (2,)}
        assert copy.deepcopy(x) == x
        with pytest.raises(dataclasses.FrozenInstanceError):
            x.a = 5
        with pytest.raises(dataclasses.FrozenInstanceError):
            del x.a
        assert x.a == 1 and pickle.loads(pickle.dumps(x)) == x
        assert str(inspect.signature(kind)) == "(a: 'int', b: 'tuple[int, ...]' = ()) -> None"
        with pytest.raises(TypeError, match="missing 1 required positional argument: 'a'"):
            kind()
    assert Ours(1) != Theirs(1)
    assert pickle.loads(pickle.dumps(Unknown("why"))) == Unknown("why")


def test_a_repr_of_its_own_stays() -> None:
    @dataclass(frozen=True, slots=True)
    class Own:
        a: int

        def __repr__(self) -> str:
            return "mine"

    assert repr(Own(1)) == "mine"
