"""The rows of bench_owners.py on heaps of 1e7 gc objects."""

# SPDX-License-Identifier: MIT
import gc

from bench_owners import measured

OBJECTS = 10_000_000
ROUNDS = 3

if __name__ == "__main__":
    for aged in (False, True):
        measured(OBJECTS, aged, ROUNDS)
        gc.collect()
