"""Run a notebook and write it as an offline page: page.py NOTEBOOK PAGE.

It runs with widget state (nbclient needs it for output widgets), which is then dropped: with the state the
page would draw widgets by scripts from the network; without it each widget's own HTML is shown.
"""

# SPDX-License-Identifier: MIT
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbconvert import HTMLExporter

DEADLINE_S = 300
TEMPLATE = """\
{% extends 'lab/index.html.j2' %}
{% block html_head_js %}{% endblock %}
{% block html_head_js_mathjax %}{% endblock %}
{% block html_head_js_mermaidjs %}{% endblock %}
{% block html_head_css %}
{{ resources.include_css("static/theme-dark.css")
   | replace('<style type="text/css">', '<style media="(prefers-color-scheme: dark)">') }}
{% endblock %}
"""
"""nbconvert's template without its scripts, which need the network; dark where the reader's system is."""


def main(source, page):
    """Execute `source`, write `page`, print where it is."""
    notebook = nbformat.read(source, as_version=4)
    folder = str(Path(source).resolve().parent)
    client = NotebookClient(notebook, timeout=DEADLINE_S, kernel_name="python3")
    client.resources = {"metadata": {"path": folder}}
    client.extra_arguments = ["--log-level=40"]
    client.execute()
    write(notebook, Path(page))
    print(f"\nRead it:   {page}\nTry it:    make lab")


def write(notebook, page):
    """The executed notebook as HTML."""
    notebook.metadata.pop("widgets", None)
    html, _ = HTMLExporter(raw_template=TEMPLATE).from_notebook_node(notebook)
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(html, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
