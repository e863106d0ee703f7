"""Write docs/reference from docstrings, parsers and facts: reference.py [--check].

A page has text written by hand around one part between two marks; only that part is written here. The schema,
docs/schema/report-2.json, is written whole. --check writes nothing: exit code 1 where a page is not current.
"""

# SPDX-License-Identifier: MIT
import argparse
import inspect
import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "reference"
BEGIN, END = "<!-- make reference: begin -->\n", "<!-- make reference: end -->\n"
VERBS = {
    "One object": "inspect refcount owners chain retained materialization findings aliases conversions",
    "Two objects": "shares compare",
    "The whole process": "heap memory growth lost snapshot",
    "Code that runs": "trace no_copy no_materialize leaks no_leaks no_new breakpoints writes load",
    "Other processes": "attach stacks on",
    "C in a cell": "compile_c call_c",
    "Lazy vectors": "lazy check_lazy",
    "From R": "r",
    "Values": "Report Unknown Immortal errors",
}
"""The public names by what one asks about; a name that stands nowhere is an error."""


def main(words):
    """Exit code 1 where --check finds a page that is not current."""
    made = {
        PAGES / f"{name}.md": part
        for name, part in (
            ("verbs", verbs),
            ("magics", magics),
            ("commands", commands),
            ("json", facts),
            ("catalogue", catalogue),
        )
    }
    old = {page: page.read_text(encoding="utf-8") for page in made}
    new = {page: _between(old[page], part()) for page, part in made.items()}
    schema = ROOT / "docs" / "schema" / "report-2.json"
    old[schema], new[schema] = schema.read_text(encoding="utf-8"), _schema()
    stale = [page for page in new if new[page] != old[page]]
    if "--check" in words:
        print("\n".join(f"{page.relative_to(ROOT)} is not current: make reference" for page in stale))
        return 1 if stale else 0
    for page in stale:
        page.write_text(new[page], encoding="utf-8")
    return 0


def _between(text, part):
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}{part}{END}{rest.partition(END)[2]}"


def verbs():
    """Each public name of `inspector`: its signature and its docstring."""
    import inspector

    missing = set(inspector.__all__) - {"__version__"} - set(" ".join(VERBS.values()).split())
    assert not missing, f"not in VERBS: {missing}"
    lines = []
    for group, names in VERBS.items():
        lines += [f"## {group}", ""]
        for name in names.split():
            what = getattr(inspector, name)
            lines += [f"### {name}", f"`inspector.{name}{_signature(what)}`<br>{_prose(what)}", ""]
    return "\n".join(lines)


def _signature(what):
    """Names and defaults; types are in the sources."""
    if not inspect.isfunction(what) and not inspect.isclass(what):
        return ""
    parameters = [
        one.replace(annotation=inspect.Parameter.empty) for one in inspect.signature(what).parameters.values()
    ]
    return str(inspect.Signature(parameters))


def _prose(what):
    """A docstring as one paragraph."""
    return " ".join((inspect.getdoc(what) or "").split())


def commands():
    """Each command: what it is for, how it is called, the options of its own."""
    from inspector.faces.arguments import DRAW, WRITE
    from inspector.faces.cli import commands as names
    from inspector.faces.cli import parser

    known = {option.flags for option in (*DRAW, *WRITE)}
    top = parser(names())
    subs = next(action for action in top._actions if isinstance(action, argparse._SubParsersAction)).choices
    return "\n".join(_command(f"inspector {name}", sub, known) for name, sub in subs.items())


def _command(name, parser, known):
    head, _, rest = (parser.description or "").strip().partition("\n")
    typed = [
        action.metavar or "|".join(action.choices or [action.dest.upper()]) for action in parser._actions
    ]
    named = [word for word, action in zip(typed, parser._actions, strict=True) if not action.option_strings]
    return _entry(f"`{' '.join([name, *named])}`", head, textwrap.dedent(rest), parser, known)


def _entry(title, head, rest, parser, known):
    """A heading, a sentence, and a block of examples and options."""
    rest = [line for line in rest.splitlines() if line.strip()]
    options = _options(parser, known)
    block = ["```", *rest, *([""] if rest and options else []), *options, "```"]
    return "\n".join([f"### {title}", head, "", *(block if len(block) > 2 else []), ""])


def _options(parser, known):
    """The options that are not in `known`, one a line."""
    own = [action for action in parser._actions if action.option_strings and action.dest != "help"]
    rows = [
        (_flags(action), (action.help or "") % vars(action))
        for action in own
        if tuple(action.option_strings) not in known
    ]
    wide = max((len(flags) for flags, _ in rows if len(flags) < 30), default=0)
    return [f"{flags:<{wide}}  {told}".rstrip() for flags, told in rows]


def _flags(action):
    value = action.metavar or ("|".join(action.choices) if action.choices else action.dest.upper())
    return ", ".join(action.option_strings) + ("" if action.nargs == 0 else f" {value}")


def magics():
    """Each magic: what it is for, how it is typed, and the options that no command has."""
    from IPython.core.interactiveshell import InteractiveShell

    from inspector.faces.arguments import BREAK, DRAW, LEAKS, LOOK, MODULES, ONLY, PREVIEW, TRACE, WRITE

    known = {
        option.flags for option in (*DRAW, *WRITE, *LOOK, *PREVIEW, *TRACE, *ONLY, *BREAK, MODULES, LEAKS[0])
    }
    shell = InteractiveShell.instance()
    before = {kind: set(found) for kind, found in shell.magics_manager.magics.items()}
    shell.run_line_magic("load_ext", "inspector")
    found = {}
    for kind, sign in (("cell", "%%"), ("line", "%")):
        for name, function in shell.magics_manager.magics[kind].items():
            if name not in before[kind]:
                found[name] = ([*found.get(name, ([], None))[0], f"`{sign}{name}`"], function)
    return "\n".join(
        _magic(" and ".join(signs), function, known) for _, (signs, function) in sorted(found.items())
    )


def _magic(title, function, known):
    parser = getattr(function, "parser", None)
    text = re.split(r"\n\n(?:positional arguments|options):\n", inspect.getdoc(function))[0]
    head, *paragraphs = [
        one for one in text.split("\n\n") if one != "::" and not re.match(r"  %+inspect\w* \[|  %%%", one)
    ]
    prose = [" ".join(one.split()) for one in (head, *paragraphs) if not one.startswith("  ")]
    examples = "\n".join(textwrap.dedent(one) for one in paragraphs if one.startswith("  "))
    return _entry(title, " ".join(prose), examples, parser or argparse.ArgumentParser(), known)


def facts():
    """Each column of a report: the fact in it, what it says, its fields."""
    from inspector.facts.columns import COLUMNS, fact_class
    from inspector.facts.wire import field_types

    lines = ["| column | fact | what it is | fields |", "|---|---|---|---|"]
    for name in COLUMNS:
        fact = fact_class(name)
        what = " ".join((inspect.getdoc(fact) or "").partition("\n\n")[0].split()).replace("|", "\\|")
        fields = ", ".join(f"`{field}`" for field in field_types(fact))
        lines.append(f"| `{name}` | {fact.__name__} | {what} | {fields} |")
    return "\n".join([*lines, ""])


def catalogue():
    """How many operations of each release are stored, and of how many a trace says something else."""
    from inspector.sessions.catalogue import stored
    from inspector.sessions.catalogue.rules import count

    lines = ["| library | release | operations | compared | a trace disagrees |", "|---|---|---|---|---|"]
    for one in count(stored.every()):
        compared = one.agree + one.disagree
        share = f"{one.disagree:,}, {one.disagree / compared:.1%}"
        lines.append(f"| {one.library} | {one.version} | {one.operations:,} | {compared:,} | {share} |")
    return "\n".join([*lines, ""])


def _schema():
    from inspector.facts.schema import published

    return published()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
