"""Build the pages and tutorials as one offline site: docs.py FOLDER.

MkDocs builds the pages of docs/; nbconvert converts each notebook as committed (without running it), with the
template of page.py. Links between pages and notebooks are changed to those of the site.
"""

# SPDX-License-Identifier: MIT
import logging
import re
import shutil
import sys
from pathlib import Path

import nbformat
from mkdocs.commands.build import build
from mkdocs.config import load_config

sys.path.insert(0, str(Path(__file__).parent))
import page

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "build" / "site-sources"
NOTEBOOK = re.compile(r"\]\((?:\.\./)*notebooks/([\w-]+)\.ipynb\)")
PAGE_LINK = re.compile(r'href="\.\./docs/([\w/-]+)\.md(#[\w-]+)?"')
LISTED = re.compile(r"\]\((\w+\.md)\)")
OUTSIDE = re.compile(r"\]\((?:\.\./)+((?:inspector|native|tests|magics)/[\w/.-]+)\)")
"""Links to sources of the project, which the site does not contain: replaced by the path."""
ABOUT = ("CHANGELOG", "benchmarks", "seeds", "provenance", "style", "CONTRIBUTING")
FRAME = """\
<iframe class="notebook" src="../notebooks/{name}.html" title="{title}"></iframe>

[The tutorial alone on a page](../notebooks/{name}.html)
"""
STYLE = """\
iframe.notebook { width: 100%; height: 85vh; border: 0; }
.col-md-3:not(:has(a)) { display: none; }
.col-md-3:not(:has(a)) + .col-md-9 { width: 100%; }
a[rel="prev"], a[rel="next"] { display: none; }
td code { white-space: normal; overflow-wrap: anywhere; }
"""


def main(folder):
    """Arrange the sources and build; a broken link is an error."""
    logging.getLogger("mkdocs").addHandler(logging.StreamHandler())
    shutil.rmtree(str(SOURCES), ignore_errors=True)
    shutil.copytree(str(ROOT / "docs"), str(SOURCES), ignore=shutil.ignore_patterns("changes"))
    (SOURCES / "README.md").unlink()  # the list of shelves: here it is the bar above each page
    for name, text in (("index.md", "README.md"), ("CONTRIBUTING.md", "CONTRIBUTING.md")):
        (SOURCES / name).write_text((ROOT / text).read_text().replace("](docs/", "]("))
    for text in SOURCES.rglob("*.md"):
        text.write_text(_linked(text.read_text(), len(text.relative_to(SOURCES).parts) - 1))
    tutorials = [_tutorial(path) for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]
    shutil.copytree(str(ROOT / "notebooks" / "pictures"), str(SOURCES / "notebooks" / "pictures"))
    (SOURCES / "site.css").write_text(STYLE)
    build(_config(folder, tutorials))
    print(f"\nRead it:   {folder}/index.html")


def _linked(text, depth=0):
    text = re.sub(r"^(```\w+) differs$", r"\1", text, flags=re.MULTILINE)  # a word for .ci/examples.py
    text = NOTEBOOK.sub(lambda found: f"]({'../' * depth}tutorials/{found[1]}.md)", text)
    return OUTSIDE.sub(lambda found: f"](#) (`{found[1]}`)", text)


def _tutorial(path):
    """(title, page) of a notebook: its own HTML, and a page that frames it."""
    notebook = nbformat.read(path, as_version=4)
    title = notebook.cells[0].source.partition("\n")[0].lstrip("# ")
    alone = SOURCES / "notebooks" / f"{path.stem}.html"
    page.write(notebook, alone)
    alone.write_text(PAGE_LINK.sub(_page, alone.read_text()))
    (SOURCES / "tutorials").mkdir(exist_ok=True)
    (SOURCES / "tutorials" / f"{path.stem}.md").write_text(FRAME.format(title=title, name=path.stem))
    return {title: f"tutorials/{path.stem}.md"}


def _page(found):
    """A link of a notebook to a page, as a link of the site."""
    return f'href="../{found[1].replace("README", "index")}.html{found[2] or ""}" target="_parent"'


def _shelf(name, *more):
    """The pages of a shelf, in the order in which its own page names them."""
    folder = ROOT / "docs" / name
    named = LISTED.findall((folder / "README.md").read_text())
    rest = sorted({path.name for path in folder.glob("*.md")} - {"README.md", *named})
    return [f"{name}/{page}" for page in ("README.md", *dict.fromkeys(named), *rest)] + list(more)


def _config(folder, tutorials):
    settings = SOURCES.parent / "mkdocs.yml"
    settings.write_text("site_name: native-inspector\n")
    return load_config(
        config_file=str(settings),
        docs_dir=str(SOURCES),
        site_dir=str(Path(folder).resolve()),
        use_directory_urls=False,
        strict=True,
        theme={"name": "mkdocs", "highlightjs": False, "color_mode": "auto", "nav_style": "dark"},
        extra_css=["site.css"],
        plugins=["search"],
        nav=[
            {"Start": "index.md"},
            {"Tutorials": ["tutorials/README.md", *tutorials]},
            {"How-to": _shelf("how-to")},
            {"Reference": _shelf("reference", "glossary.md", "messages.md")},
            {"How it works": [*_shelf("how-it-works"), "architecture.md", *_shelf("decisions")]},
            {"About": [f"{name}.md" for name in ABOUT]},
        ],
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
