"""The rows of bench_heap.py on a heap of 1e7 gc objects."""

# SPDX-License-Identifier: MIT
import os

os.environ["HEAP_OBJECTS"] = "10000000"  # read when bench_heap is imported

import bench_heap

if __name__ == "__main__":
    bench_heap.main()
