"""Draws a C cell: how it was built, what it defines, and how one call changed reference counts."""

# SPDX-License-Identifier: MIT
from inspector.facts.amounts import counted
from inspector.facts.compiled import (
    NOT_ASKED,
    NOT_DEAD,
    Balanced,
    CellArray,
    CellCall,
    Compiled,
    CompiledField,
    CompiledFunction,
    CompiledStruct,
)
from inspector.facts.conversion import Trace
from inspector.facts.leaks import Leaks
from inspector.facts.nothing import Nothing
from inspector.facts.stack import Stop
from inspector.facts.unknown import Unknown
from inspector.views.amounts import size
from inspector.views.grammar import Block, Fold, Line, Span, nothing, text
from inspector.views.sites import duration
from inspector.views.view import blocks, view

PAGE = "docs/reference/c_cells.md"
FIELDS_SHOWN = 8


@blocks.register
def of_compiled(fact: Compiled) -> tuple[Block, ...]:
    """Lines: the cell, its own module or its functions, the structs of its types, compiler warnings."""
    return (
        _head(fact),
        _how(fact),
        *_module(fact),
        *map(_function, fact.functions),
        *_uncallable(fact),
        *map(_struct, fact.structs),
        *(Line("warn", text(f"compiler: {words}", "warn")) for words in fact.warnings),
    )


def _head(fact: Compiled) -> Line:
    state = "from the cache" if fact.cached else f"compiled in {fact.compile_ns / 1e9:.1f} s"
    if not fact.kept:
        state += ", never kept: cache_version=()"
    version = f"  version {fact.cache_version}" if fact.cache_version and fact.kept else ""
    return Line(
        "cell",
        (*text(fact.name, "native"), *text(f"  key {fact.key}{version}", "dim")),
        text(state),
        explain="The key is a hash of the text, the arguments, the compiler, Python and NumPy.",
        link=f"{PAGE}#the-cache",
    )


def _uncallable(fact: Compiled) -> tuple[Line, ...]:
    if fact.functions or fact.module:
        return ()
    return (
        Line(
            "none",
            text("It defines no function that Python could call: write them without `static`.", "warn"),
        ),
    )


def _how(fact: Compiled) -> Line:
    words = (*text(fact.command, "dim"), *text(f"  {size(fact.library_bytes)} in {fact.folder}", "dim"))
    return Line("built", words, verbose=True)


def _function(function: CompiledFunction) -> Line:
    return Line(
        "function",
        text(function.prototype, "native"),
        text(function.called_by, "dim"),
        explain="The prototype in the debug information.",
        link=f"{PAGE}#what-becomes-callable",
    )


def _module(fact: Compiled) -> tuple[Line, ...]:
    if not fact.module:
        return ()
    return (
        Line(
            "module",
            (*text(fact.module, "native"), *text(f"  PyInit_{fact.module}, its own method table", "dim")),
            text(f"import {fact.module}", "dim"),
            explain="A cell with a PyInit_ of its own is a whole extension module.",
            link=f"{PAGE}#a-whole-extension-module",
        ),
    )


def _struct(struct: CompiledStruct) -> Fold:
    summary = Line(
        "struct",
        (*text(struct.name, "native"), *text(f"  {struct.bytes} B per instance", "dim")),
        explain="The memory of an instance: PyObject_HEAD, then the type's own fields.",
        link=f"{PAGE}#a-whole-extension-module",
    )
    ends = [field.offset_bytes + field.size_bytes for field in struct.fields]
    starts = [field.offset_bytes for field in struct.fields[1:]] + [struct.bytes]
    rows = [_field(field, start - end) for field, start, end in zip(struct.fields, starts, ends, strict=True)]
    return Fold(summary, tuple(rows), shown=FIELDS_SHOWN)


def _field(field: CompiledField, gap: int) -> Line:
    padded = text(f"  then {gap} B of padding", "dim") if gap > 0 else ()
    what = "refcount and type" if field.name == "ob_base" else ""
    words = (
        *text(f"{field.type} {field.name}".replace("* ", "*")),
        *text(f"  {what}" if what else "", "dim"),
    )
    return Line(f"+{field.offset_bytes}", (*words, *padded), text(f"{field.size_bytes} B", "dim"))


@blocks.register
def of_call(fact: CellCall) -> tuple[Block, ...]:
    """Lines: the call, a crash, the reference counts, warnings, arrays; then the trace and the ledger."""
    return (
        _call(fact),
        *_death(fact.died),
        *(_balance(row) for row in fact.balance),
        *(_finding(row) for row in fact.balance if row.verdict in ("over-released", "more than found")),
        *(block for one in fact.arrays for block in _array(one)),
        *_watched(fact),
    )


def _death(died: Stop | Unknown) -> tuple[Block, ...]:
    if isinstance(died, Stop):
        return view(died)
    return () if died == NOT_DEAD else (Line("where", text(str(died), "warn")),)


def _watched(fact: CellCall) -> tuple[Block, ...]:
    """The call's trace and its ledger, each from its own child process."""
    if fact.trace == NOT_ASKED:
        return ()
    return (*_traced(fact.trace), *_of_ledger(fact.leaks))


def _traced(trace: Trace | Unknown) -> tuple[Block, ...]:
    if isinstance(trace, Unknown):
        return (Line("trace", text(str(trace), "warn")),)
    copied = sum(copy.copied_bytes for copy in trace.copies if copy.verdict == "copied")
    calls = counted(sum(len(call.conversions) for call in trace.calls), "function")
    seen = Nothing(f"its calls of {calls} of the C API", "its own loops")
    said = text(f"{size(copied)} copied") if copied else nothing(seen, "no copy")
    return (Fold(Line("trace", said, text("--all", "dim")), view(trace), 0),)


def _of_ledger(leaks: Leaks | Unknown) -> tuple[Block, ...]:
    return (Line("ledger", text(str(leaks), "warn")),) if isinstance(leaks, Unknown) else view(leaks)


def _array(array: CellArray) -> tuple[Block, ...]:
    shape = f"{array.layout.format} {array.layout.shape}"
    return (Line("array", (*text(f"{array.name}  "), *text(shape, "dim"))), *view(array.layout))


def _call(fact: CellCall) -> Line:
    where = "in a forked child" if fact.isolated else "here"
    if fact.error:
        outcome: tuple[Span, ...] = text(fact.error, "danger")
    elif isinstance(fact.result, Unknown):
        outcome = text(str(fact.result), "danger")
    else:
        outcome = text(f"→ {fact.result}")
    return Line(
        "call",
        (*text(f"{fact.function}  ", "native"), *outcome),
        text(f"{duration(fact.ns)} {where}", "dim"),
        explain="With --isolate the call runs in a forked child: this process survives a crash there.",
        link=f"{PAGE}#running-it",
    )


def _balance(row: Balanced) -> Line:
    if isinstance(row.verdict, Unknown):
        return Line("refs", (*text(f"{row.name}  "), *text(str(row.verdict), "dim")))
    held = f", {row.held} in the result" if row.held else ""
    return Line(
        "refs",
        (
            *text(f"{row.name}  "),
            *text(f"{row.shown}  {row.references_before} → {row.references_after}{held}", "dim"),
        ),
        text(row.verdict, "good" if row.verdict == "balanced" else "danger"),
        explain="A function leaves the counts of its arguments unchanged, except for what its result holds.",
        link=f"{PAGE}#the-balance-of-references",
    )


def _finding(row: Balanced) -> Line:
    assert isinstance(row.references_before, int) and isinstance(row.references_after, int)
    unexplained = row.references_after - row.references_before - row.held
    many = counted(abs(unexplained), "reference")
    if unexplained < 0:
        words = f"over-released: {row.shown} of {row.name} lost {many}: borrowed, then stolen or released"
        cure = "Py_INCREF it before the call that steals it"
    else:
        words = f"kept-by-c: {many} to {row.name} more than the result holds: kept by C, or leaked"
        cure = "Py_DECREF the new references"
    return Line("warn", text(words, "danger"), text(cure, "dim"), link=f"{PAGE}#the-balance-of-references")
