"""Objects that the adapter `sqlalchemy_rows` is tried on."""

# SPDX-License-Identifier: MIT
import sqlalchemy as sa
from sqlalchemy import orm


class Base(orm.DeclarativeBase):
    """Of the user's."""


class User(Base):
    """Of the user's, with a column that is loaded on demand."""

    __tablename__ = "users"
    id = sa.Column(sa.Integer, primary_key=True)
    name = orm.deferred(sa.Column(sa.String))
    age = sa.Column(sa.Integer)


ENGINE = sa.create_engine("sqlite://", poolclass=sa.pool.StaticPool)
Base.metadata.create_all(ENGINE)


def samples():
    """Mapped objects new, loaded, expired, detached; results before and after; statements."""
    session = orm.Session(ENGINE)
    user = User(name="a", age=2)
    yield user
    session.add(user)
    session.commit()
    yield user
    yield from (session.get(User, 1), sa.select(User), session.query(User), sa.text("select 1"))
    result = session.execute(sa.select(User.id))
    yield result
    result.all()
    yield result
    session.close()
    yield from (user, session.connection().execute(sa.text("select 1")))
    session.close()
