"""Blocks that every drawing is tried on: each block kind, long words, wide and evil characters."""

# SPDX-License-Identifier: MIT
from inspector.views.grammar import Block, Fold, Line, Picture, Span, Table, text

EVIL = "\x1b[31m\x1b]0;owned\x07 \u202e<b onclick=x>&amp; \udc80 \x00 日本 end"

CARD: tuple[Block, ...] = (
    Line("x", (Span("ndarray ", "name"), Span("float64 (3, 4)")), text("view · Fortran order")),
    Line(
        "refs",
        (Span("2"), Span("  cell 5: x · rows[0]", "dim")),
        text("all 2 named", "dim"),
        explain="How many references there are, and who holds them.",
        link="docs/glossary.md#reference",
    ),
    Line("bytes", (Span("96 B"), Span("  inside big (800 kB), at +160 B", "dim")), text("[heap]", "dim")),
    Line("at", text("0x7f0000001000"), verbose=True),
    Line("layout", (Span("strides (8, 24)"), Span("     →  24 B a step, ↓ 8 B"))),
    Picture(
        (text("┌────┬────┐"), (Span("│  0 │  3 │"), Span("   order in memory", "dim")), text("└────┴────┘")),
        "two elements in one row: memory positions 0 and 3",
    ),
    Fold(
        Line("held by", text("8 owners")),
        (
            Table(
                ("holder", "key", "references"),
                tuple((text(f"dict number {i}"), text(f"['k{i}']"), text(f"{i * 1000:,}")) for i in range(8)),
                (2,),
                "a caption",
            ),
        ),
        shown=3,
    ),
    Line("evil", text(EVIL)),
    Line(
        "warn",
        (Span("large-base: ", "danger"), Span("96 bytes keep 800 kB alive")),
        text("x.copy() frees it"),
    ),
)
