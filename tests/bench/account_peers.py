"""One process, asked by five tools where its memory went: what each explains of what is resident.

    python tests/bench/account_peers.py     the table of docs/benchmarks.md; needs memray, guppy3, psutil

The program is the same for each, in a process of its own; a tool that must watch from the beginning does.
"""

# SPDX-License-Identifier: MIT
import json
import subprocess
import sys

PROGRAM = """
import ctypes, json, os, sys, time
import numpy, pyarrow, pandas
def program():
    global rows, arrays, table, held
    rows = [{"id": n, "name": str(n)} for n in range(300_000)]
    arrays = [numpy.ones(250_000) for _ in range(100)]
    table = pyarrow.table({"a": pyarrow.array(list(range(10_000_000)))})
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, (ctypes.c_size_t,)
    held = [libc.malloc(50_000) for _ in range(2_000)]
    for n, block in enumerate(held):
        ctypes.memset(block, 1, 50_000)
    libc.free.argtypes = (ctypes.c_void_p,)
    for block in held[:-1:2]:
        libc.free(block)
    held = None
def resident():
    fields = (line.split() for line in open("/proc/self/smaps_rollup"))
    return next(int(words[1]) << 10 for words in fields if words[0] == "Rss:")
def end(explained, begun):
    print(json.dumps({"explained": explained, "rss": resident(), "asked": time.process_time() - begun}))
"""
TOOLS = {
    "none": "begun = time.process_time(); program(); end(0, begun)",
    "native-inspector": """
program()
import inspector
begun = time.process_time()
found = inspector.memory()
end(found.resident_bytes - found.row("unexplained").resident_bytes, begun)""",
    "psutil": """
import psutil
program()
begun = time.process_time()
maps = psutil.Process().memory_maps()
end(sum(one.rss for one in maps if one.path.startswith("/")), begun)""",
    "guppy3": """
from guppy import hpy
program()
begun = time.process_time()
end(hpy().heap().size, begun)""",
    "tracemalloc": """
import tracemalloc
tracemalloc.start()
begun = time.process_time()
program()
end(tracemalloc.get_traced_memory()[0], begun)""",
    "memray": """
import memray, tempfile
file = tempfile.mkdtemp() + "/trace"
begun = time.process_time()
with memray.Tracker(file):
    program()
spent = time.process_time() - begun
records = memray.FileReader(file).get_leaked_allocation_records(merge_threads=True)
end(sum(one.size for one in records), time.process_time() - spent)""",
}
SEES = {
    "native-inspector": "every mapping, divided by the allocators' structures: live, lost and free apart",
    "psutil": "files and libraries; the rest is one number",
    "guppy3": "Python objects and NumPy's arrays; nothing of Arrow, of C code, nothing free",
    "tracemalloc": "what Python's allocators and NumPy's gave since its start; its own memory is in the sum",
    "memray": "all that was asked for since its start and not freed: reserved address space in full",
}


def asked(tool: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM + TOOLS[tool]], capture_output=True, check=True
    )
    return dict(json.loads(done.stdout))


def main() -> None:
    bare = asked("none")["asked"]
    print("| tool | explained | of resident | seconds of CPU | sees |\n|---|---|---|---|---|")
    for tool, sees in SEES.items():
        found = asked(tool)
        watched = tool in ("tracemalloc", "memray")
        cost = f"{found['asked'] / bare:.1f} times the program" if watched else f"{found['asked']:.2f}"
        share = 100 * found["explained"] / found["rss"]
        amounts = f"{found['explained'] / 1e6:.0f} MB of {found['rss'] / 1e6:.0f} | {share:.0f} %"
        print(f"| {tool} | {amounts} | {cost} | {sees} |")


if __name__ == "__main__":
    main()
