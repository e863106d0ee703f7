"""Tab completion after `%inspect`: the user's names and options; IPython completes dotted names."""

# SPDX-License-Identifier: MIT
import re
from typing import Any

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher
from IPython.core.interactiveshell import InteractiveShell

_LINE = re.compile(r"(?:^|=)\s*(?P<magic>%{1,2}inspect\w*)\s+(?:.*\s)?(?P<word>[^\s]*)$")
_NAME = re.compile(r"[^\W\d]\w*|")


def add(shell: InteractiveShell) -> None:
    """Append our matcher to the shell's matchers."""
    if shell.Completer is not None:
        shell.Completer.custom_matchers.append(_matcher(shell))


def remove(shell: InteractiveShell) -> None:
    """Remove our matcher."""
    if shell.Completer is not None:
        matchers = shell.Completer.custom_matchers
        matchers[:] = [one for one in matchers if getattr(one, "__module__", "") != __name__]


def _matcher(shell: InteractiveShell) -> Any:
    @context_matcher(identifier="inspector.magics")  # type: ignore[untyped-decorator]
    def inspector_matcher(context: CompletionContext) -> SimpleMatcherResult:
        found = _LINE.search(context.text_until_cursor)
        words = _words(shell, found["magic"].lstrip("%"), found["word"]) if found else []
        completions = [SimpleCompletion(text=word, type=kind) for word, kind in words]
        return SimpleMatcherResult(completions=completions, suppress=bool(completions))

    return inspector_matcher


def _words(shell: InteractiveShell, magic: str, typed: str) -> list[tuple[str, str]]:
    """(completion, kind) for what is typed of the last word."""
    if typed.startswith("-"):
        actions = getattr(getattr(shell.find_line_magic(magic), "parser", None), "_actions", ())
        options = sorted({flag for action in actions for flag in action.option_strings})
        return [(flag, "option") for flag in options if flag.startswith(typed)]
    if _NAME.fullmatch(typed):
        names = sorted(name for name in list(shell.user_ns) if type(name) is str and name.startswith(typed))
        own = shell.user_ns_hidden
        shown = [name for name in names if typed.startswith("_") or not (name in own or name.startswith("_"))]
        return [(name, "instance") for name in shown]
    return []
