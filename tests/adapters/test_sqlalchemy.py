"""SQLAlchemy on the real library: expired and deferred columns, and not one statement more."""

# SPDX-License-Identifier: MIT
from typing import Any

import pytest
from asking import Look

import inspector
from inspector.facts.unknown import Unknown

pytestmark = pytest.mark.libraries


@pytest.fixture
def mapped(sa: Any) -> Any:
    """(class, session, list of the statements that ran)."""
    from sqlalchemy import orm

    class Base(orm.DeclarativeBase):
        pass

    class User(Base):
        __tablename__ = "users"
        id = sa.Column(sa.Integer, primary_key=True)
        name = orm.deferred(sa.Column(sa.String))
        age = sa.Column(sa.Integer)

        def __getattr__(self, name: str) -> Any:
            assert name.startswith("_sa_"), f"asked for {name}"  # SQLAlchemy asks before it has made it
            raise AttributeError(name)

    engine = sa.create_engine("sqlite://", poolclass=sa.pool.StaticPool)
    Base.metadata.create_all(engine)
    ran: list[str] = []
    sa.event.listen(engine, "before_cursor_execute", lambda *seen: ran.append(seen[2]))
    with orm.Session(engine) as session:
        yield User, session, ran
    engine.dispose()


def test_which_columns_are_there(mapped: Any, look: Look) -> None:
    kind, session, ran = mapped
    user = kind(name="a", age=2)
    assert look(user).layers[0].value == "computed"
    session.add(user)
    session.commit()
    before = len(ran)
    told = look(user)
    assert told.state == "lazy" and told.layers[0].evidence[0].says == "age, id, name"
    assert told.layers[0].evidence[1].says == "True" and told.layers[0].would == ("x.age runs SQL",)
    assert len(ran) == before, "a look runs no statement"
    assert user.age == 2 and len(ran) == before + 1
    told = look(user)
    assert told.state == "partially materialized" and told.layers[0].evidence[0].says == "name"
    session.expunge(user)
    assert "DetachedInstanceError" in look(user).waits_for


def test_results_and_statements(mapped: Any, sa: Any, look: Look) -> None:
    kind, session, ran = mapped
    session.add(kind(age=1))
    session.commit()
    before = len(ran)
    for statement in (sa.select(kind), session.query(kind), sa.text("select 1")):
        assert look(statement).state == "lazy"
    assert len(ran) == before
    result = session.execute(sa.select(kind.id))
    assert isinstance(look(result).state, Unknown)
    assert result.all() == [(1,)]
    assert look(result).state == "consumed"
    core = session.connection().execute(sa.text("select 1"))
    assert isinstance(look(core).state, Unknown)
    core.close()
    assert look(core).state == "closed"


def test_a_class_without_a_mapping_is_not_taken_for_one(mapped: Any) -> None:
    class Plain:
        _sa_instance_state = None

    assert isinstance(inspector.materialization(Plain()).state, Unknown)
