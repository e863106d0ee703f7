"""Run a notebook and write it as a page that needs no network: page.py NOTEBOOK PAGE.

It runs with widget state (nbclient needs it for output widgets), then the state is dropped: with it the page
would draw widgets by scripts from the network, without it each widget's own HTML is shown.
"""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbconvert import HTMLExporter

DEADLINE_S = 300


def main(source, page):
    """Execute `source`, write `page`, say where it is."""
    notebook = nbformat.read(source, as_version=4)
    folder = str(Path(source).resolve().parent)
    client = NotebookClient(notebook, timeout=DEADLINE_S, kernel_name="python3")
    client.resources = {"metadata": {"path": folder}}
    client.extra_arguments = ["--log-level=40"]
    client.execute()
    notebook.metadata.pop("widgets", None)
    html, _ = HTMLExporter().from_notebook_node(notebook)
    Path(page).parent.mkdir(parents=True, exist_ok=True)
    Path(page).write_text(html, encoding="utf-8")
    print(f"\nRead it:   {page}\nTry it:    make lab")


if __name__ == "__main__":
    main(*sys.argv[1:])
