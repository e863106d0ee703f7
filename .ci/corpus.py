"""Judge the corpus of the trace in the room of the libraries, and write its table into docs/benchmarks.md.

    python3 .ci/corpus.py

Standard library only.
"""

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import ready

PAGE = ready.ROOT / "docs" / "benchmarks.md"
BEGIN, END = "<!-- make corpus: begin -->", "<!-- make corpus: end -->"


def main():
    """Run, print, write."""
    ready.main(["libraries"])
    python = ready.ROOT / ready.ROOMS["libraries"][0] / "bin" / "python"
    program = ready.ROOT / "tests" / "specimens" / "trace_corpus_more.py"
    told = subprocess.run(
        [str(python), "-P", str(program)], cwd=str(ready.BUILD), stdout=subprocess.PIPE, text=True
    )
    if told.returncode:
        sys.exit(told.returncode)
    print(told.stdout)
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{told.stdout.strip()}\n{rest[rest.index(END) :]}")


if __name__ == "__main__":
    main()
