"""jax: computed, pending, deleted and donated arrays, aliases of NumPy's memory, and what is abstract."""

# SPDX-License-Identifier: MIT
import struct
from collections.abc import Callable
from typing import Any

import pytest
from apart import printed
from asking import Tell, adapter

import inspector
from inspector import _native
from inspector.adapters.registry import numbers
from inspector.facts.unknown import Unknown

pytestmark = pytest.mark.libraries
jax = pytest.importorskip("jax", reason="not installed in this room: jax")
jnp, np = jax.numpy, pytest.importorskip("numpy")


@pytest.fixture
def state() -> Callable[[Any], Any]:
    """No host copy is made, nothing is deleted."""

    def ask(x: Any) -> Any:
        if not hasattr(x, "is_deleted"):
            return None
        return (x.is_deleted(), None if x.is_deleted() else x._npy_value is None)

    return ask


TELLS_ADDRESS = numbers(jax.__version__) >= (0, 10)


def ready(x: Any) -> Any:
    return x.block_until_ready()


def test_an_array_and_its_elements(told: Tell) -> None:
    x = ready(jnp.arange(6, dtype=jnp.float32).reshape(2, 3))
    answer = told(x)
    assert (answer.layers[0].value, answer.logical_bytes) == ("computed", 24)
    assert isinstance(adapter(x).owns(x), Unknown)
    assert adapter(x).holds(x) == ()
    if not TELLS_ADDRESS:
        assert adapter(x).elements(x) == () and "cache" in answer.layers[0].evidence[-1].says
        return
    (block,) = adapter(x).elements(x)
    assert (block.shape, block.strides_bytes, block.format) == ((2, 3), (12, 4), "float32")
    assert block.readonly is True
    raw = _native.read(block.address, 24)
    assert raw is not None and struct.unpack("6f", raw) == (0, 1, 2, 3, 4, 5)


def test_the_host_copy_is_named(told: Tell) -> None:
    x = ready(jnp.ones(3))
    copy = np.asarray(x)
    told(x)
    if x._npy_value is not None:
        ((relation, held),) = adapter(x).holds(x)
        assert relation == "_npy_value" and held is x._npy_value
    assert copy.sum() == 3


def test_a_deleted_array_is_asked_nothing_that_raises(told: Tell) -> None:
    x = ready(jnp.ones(4, jnp.float32))
    x.delete()
    with pytest.raises(RuntimeError):
        repr(x)
    answer = told(x)
    assert (answer.layers[0].value, answer.logical_bytes) == ("closed", 16)
    assert adapter(x).elements(x) == () and dict(adapter(x).names(x)) == {"is_deleted()": "True"}


@pytest.mark.filterwarnings("ignore:Some donated buffers")
def test_a_donated_array_is_closed_and_a_look_does_not_stop_the_donation(told: Tell) -> None:
    add = jax.jit(lambda a: a + 1, donate_argnums=0)
    x = ready(jnp.ones(1000))
    assert told(x).layers[0].value == "computed"
    ready(add(x))
    assert x.is_deleted(), "nothing of ours holds the buffer"
    assert told(x).layers[0].value == "closed"


def test_an_alias_of_numpy_has_its_address(told: Tell) -> None:
    room = np.zeros(1100, np.float32)
    first = -room.ctypes.data % 64 // 4
    n = room[first : first + 1000]
    x = ready(jax.device_put(n))
    for block in adapter(x).elements(x) if TELLS_ADDRESS else ():
        assert block.address == n.ctypes.data, "device_put shares what is aligned to 64 bytes"
    n[0] = 7
    assert float(x[0]) == 7, "an immutable array has changed"
    assert "device_put" in str(adapter(x).owns(x)) and told(x).findings == ()


def test_shapes_and_tracers_never_have_elements(told: Tell) -> None:
    shape = jax.ShapeDtypeStruct((10**6, 10**6), jnp.float32)
    assert told(shape).layers[0].value == "abstract" and adapter(shape).elements(shape) == ()
    seen = []

    def trace(v: Any) -> Any:
        seen.append(adapter(v).layers(v).layers[0].value)
        return v

    jax.jit(trace)(jnp.ones(3))
    jax.grad(lambda v: trace(v).sum())(jnp.ones(3))
    assert seen == ["abstract"] * 2


def test_a_key_holds_its_numbers() -> None:
    key = jax.random.key(0)
    ((relation, base),) = adapter(key).holds(key)
    assert relation == "_base_array" and type(base) is type(jnp.ones(1))


def test_a_look_starts_no_backend() -> None:
    program = (
        "import jax, jax.numpy; from inspector.adapters.registry import adapter_of, problems;"
        "from jax._src import xla_bridge;"
        "shape = jax.ShapeDtypeStruct((2,), 'float32'); found = adapter_of(type(shape));"
        "print(found.layers(shape).layers[0].value, problems(), dict(xla_bridge._backends))"
    )
    assert printed("-c", program) == "abstract () {}\n"


@pytest.mark.skipif(not TELLS_ADDRESS, reason="not on CPython: jax before 0.10 tells no address of its own")
def test_a_view_of_it_says_why_it_cannot_be_written() -> None:
    x = ready(jnp.arange(8, dtype=jnp.float32))
    view = np.asarray(x)
    said = [one.text for one in inspector.inspect(view).answers.rows]
    assert said[0].startswith("A view of") and "`x`" in said[0]
    assert said[1] == "Read-only because JAX's arrays never change; `view.copy()` gives a writable copy."
