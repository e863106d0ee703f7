"""Objects that the adapter `jax_arrays` is tried on."""

# SPDX-License-Identifier: MIT
import jax
import jax.numpy as jnp
import numpy as np


def samples():
    """Arrays, an alias, one with a host copy, a deleted one, a shape, a key."""
    x = jnp.arange(6, dtype=jnp.float32).reshape(2, 3)
    x.block_until_ready()
    yield from (x, jnp.float32(1.5), jnp.zeros(0), jnp.ones(3, jnp.bfloat16), jnp.array([True]))
    yield jax.device_put(np.ones(16, np.float32))
    copied = jnp.ones(3)
    np.asarray(copied)
    deleted = jnp.ones(3)
    deleted.delete()
    yield from (copied, deleted, jax.ShapeDtypeStruct((10**6, 10**6), jnp.float32), jax.random.key(0))
