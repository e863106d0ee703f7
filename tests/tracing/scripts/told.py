"""What a traced script knows of itself by a second method: said in JSON, for the test to compare."""

# SPDX-License-Identifier: MIT
import json
import sys
from typing import Any


def bytes_of(source: Any, results: dict[str, Any]) -> None:
    """Of each expression: do its result's bytes change when the source's do; its values; how many bytes."""
    import trace_corpus

    before = {text: trace_corpus.content(_bytes(made)) for text, made in results.items()}
    if source is not None:
        given = trace_corpus.content(source)
        trace_corpus.flip(source)
    for text, made in results.items():
        shares = source is not None and trace_corpus.content(_bytes(made)) != before[text]
        equal = source is not None and before[text] == given
        _say(bytes=text, shares=shares, equal=equal, size=len(before[text]))
    if source is not None:
        trace_corpus.flip(source)


def conversions(text: str, *lines: str) -> None:
    """What the calls of an expression converted, in order; others may stand between."""
    _say(conversions=text, lines=lines)


def called(text: str, name: str, result: str) -> None:
    """The function that an expression calls, and its result."""
    _say(called=text, name=name, result=result)


def _bytes(made: Any) -> Any:
    return made.encode() if type(made) is str else made


def _say(**words: Any) -> None:
    sys.stdout.write(f"{json.dumps(words)}\n")
