"""All rules of the catalogue as one HTML page with a search; it opens anywhere, and loads nothing."""

# SPDX-License-Identifier: MIT
import base64
import gzip
import json
from collections.abc import Sequence
from html import escape
from typing import Final

from inspector.facts.catalogue import Catalogue, Count
from inspector.sessions.catalogue.told import told

_HEAD: Final = """<!doctype html><html lang="en"><meta charset="utf-8"><title>What copies</title>
<!-- SPDX-License-Identifier: MIT; made by inspector catalogue --page -->
<style>:root{color-scheme:light dark}body{font:15px system-ui;margin:2em auto;max-width:70em;padding:0 1em}
input{font:inherit;width:100%;padding:.5em;box-sizing:border-box}table{border-collapse:collapse;width:100%}
td,th{text-align:left;padding:.2em .6em;border-bottom:1px solid #8884;vertical-align:top}
td:first-child{font-family:monospace}small{opacity:.7}</style>
<h1>What copies</h1>
"""
_SCRIPT: Final = """<script>
const bytes = Uint8Array.from(atob(document.getElementById("rows").textContent), c => c.charCodeAt(0));
const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
const box = document.getElementById("search"), table = document.getElementById("found");
const note = document.getElementById("note");
new Response(stream).json().then(rows => {
  const texts = rows.map(row => row.join(" ").toLowerCase());
  function show() {
    const words = box.value.toLowerCase().split(/\\s+/).filter(Boolean);
    const hits = rows.filter((row, n) => words.every(word => texts[n].includes(word)));
    note.textContent = hits.length + " of " + rows.length + " calls";
    table.replaceChildren(...hits.slice(0, 200).map(row => {
      const line = document.createElement("tr");
      for (const cell of row) line.appendChild(document.createElement("td")).textContent = cell;
      return line;
    }));
  }
  box.addEventListener("input", show);
  show();
});
</script>
"""


def page(found: tuple[Catalogue, ...]) -> str:
    """The page, with the counts and the disagreements of each release."""
    rows: list[list[str]] = []
    counts: list[Count] = []
    wrong: list[tuple[object, ...]] = []
    for library in dict.fromkeys(one.library for one in found):
        releases = tuple(one for one in found if one.library == library)
        made = told(releases)
        rows += [
            [
                f"{one.operation}: {one.call}",
                one.did,
                f"{one.made:g}×" if one.made else "",
                ", ".join(one.versions),
            ]
            for one in made.rules
        ]
        counts += made.counts
        wrong += [(one.call, one.operation, one.kind, one.did, one.traced) for one in made.disagreements]
    packed = base64.b64encode(
        gzip.compress(json.dumps(rows, separators=(",", ":")).encode(), mtime=0)
    ).decode()
    numbers = [
        (one.library, one.version, one.operations, one.cases, one.agree, one.disagree, one.not_told)
        for one in counts
    ]
    heads = ("library", "release", "operations", "cases", "trace agrees", "disagrees", "not told")
    calls, odd = (
        ("call", "does", "bytes made", "release"),
        ("call", "of", "kind", "the bytes say", "a trace says"),
    )
    return (
        f'{_HEAD}<input id="search" placeholder="to_numpy view" autofocus><p id="note"></p>'
        f'<table><thead>{_row("th", calls)}</thead><tbody id="found"></tbody></table>'
        f"<h2>Counts</h2>{_table(heads, numbers)}"
        f"<h2>Where a trace says something else</h2>{_table(odd, wrong)}"
        f'<script type="text/plain" id="rows">{packed}</script>{_SCRIPT}</html>\n'
    )


def _table(heads: tuple[str, ...], rows: Sequence[tuple[object, ...]]) -> str:
    return f"<table>{_row('th', heads)}{''.join(_row('td', row) for row in rows)}</table>"


def _row(tag: str, cells: tuple[object, ...]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(str(cell))}' for cell in cells)}"
