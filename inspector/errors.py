"""The errors a user meets: each has a slug, and docs/messages.md has a section for each slug."""

# SPDX-License-Identifier: MIT
import sys
from collections.abc import Mapping
from typing import Final

EXIT_DONE: Final = 0
EXIT_FINDINGS: Final = 1
EXIT_USAGE: Final = 2
EXIT_TARGET_GONE: Final = 3
EXIT_OUR_FAULT: Final = 70


class InspectorError(Exception):
    """What is wrong, why, and what to do.

    `slug` names its section in docs/messages.md; `exit_code` is the exit code of the CLI.
    """

    exit_code = EXIT_USAGE

    def __init__(self, what: str, *, slug: str, why: str = "", do: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.slug = slug
        self.why = why
        self.do = do

    def __str__(self) -> str:
        parts = [self.what, f"why: {self.why}" if self.why else "", f"do: {self.do}" if self.do else ""]
        return " · ".join(part for part in parts if part)

    def told(self) -> dict[str, str]:
        """The error as plain values, which `heard` makes an error again in another process."""
        said = {"what": self.what, "slug": self.slug, "why": self.why, "do": self.do}
        return {**said, "kind": type(self).__name__}

    def block(self, who: str = "inspector") -> str:
        """The error as a user reads it: what, why, what to do, where to read on; no control characters."""
        lines = [_printable(f"{who}: {self.what}")]
        for label, text in (("why", self.why), ("do", self.do), ("more", f"docs/messages.md#{self.slug}")):
            for row in text.splitlines():
                lines.append(f"  {label:<5} {_printable(row)}")
                label = ""
        return "\n".join(lines) + "\n"


class InspectorWarning(UserWarning):
    """A part of the tool is left out and the rest continues; the text ends with its [slug]."""


class TargetGone(InspectorError):
    """The process or object to inspect no longer exists."""

    exit_code = EXIT_TARGET_GONE


class OurFault(InspectorError):
    """The tool itself failed; the inspected program is unharmed."""

    exit_code = EXIT_OUR_FAULT


def heard(said: Mapping[str, str]) -> InspectorError:
    """The error that another process told."""
    kinds = {kind.__name__: kind for kind in (TargetGone, OurFault)}
    kind = kinds.get(said["kind"], InspectorError)
    return kind(said["what"], slug=said["slug"], why=said["why"], do=said["do"])


def free_threaded() -> InspectorError:
    """The error for what records calls or searches C memory, where there is no GIL."""
    return InspectorError(
        "not on a free-threaded CPython yet: there cards, comparisons, owners, what an object keeps, the heap"
        " by type, the account of memory and saved reports work.",
        slug="free-threaded",
        why="other threads run without the GIL while calls are recorded or C memory is searched",
        do="run this with a Python that has the GIL",
    )


def needs_gil() -> None:
    """Refuse what would otherwise begin, and fail on the way, on a free-threaded CPython."""
    if "t" in sys.abiflags:
        raise free_threaded()


def uncounted() -> InspectorError:
    """The error for the refcount of an object whose references a free-threaded CPython does not count."""
    return InspectorError(
        "its refcount is deferred: references from running code are not counted.",
        slug="free-threaded",
        why="a free-threaded CPython leaves them out: of functions, code, types, modules, their namespaces",
    )


def unreadable(path: object, error: OSError, do: str) -> InspectorError:
    """The error for a file that cannot be read."""
    return InspectorError(f"cannot read {path}: {error.strerror}.", slug="unreadable-file", do=do)


def unwritable(path: object, error: OSError) -> InspectorError:
    """The error for a file that cannot be written."""
    return InspectorError(
        f"cannot write {path}: {error.strerror or error}.", slug="unwritable-file", do="give another path"
    )


def no_plain_dict(what: str, do: str) -> InspectorError:
    """The error for a namespace that is no exact dict."""
    why = "only a plain dict can be read without running its code"
    return InspectorError(what, slug="not-a-namespace", why=why, do=do)


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
