"""The styles of the views on a terminal, in HTML and in SVG."""

# SPDX-License-Identifier: MIT
from typing import Final

_INK, _GREY = ("#1f2328", "#e6edf3"), ("#5f6670", "#98a1ab")
_STYLES: Final = {
    "fact": ("none", *_INK),
    "nothing": ("none", *_INK),
    "dim": ("dim", *_GREY),
    "label": ("dim", *_GREY),
    "name": ("bold", *_INK),
    "code": ("bold", *_INK),
    "good": ("green", "#1a7f37", "#56c271"),
    "warn": ("yellow", "#8a5a00", "#e0b050"),
    "danger": ("bold red", "#b3261e", "#ff7b72"),
    "native": ("cyan", "#0b6e77", "#4fc3cf"),
    "python": ("blue", "#2557b8", "#7fb0ff"),
}
TERMINAL: Final = {style: ansi for style, (ansi, _, _) in _STYLES.items()}
"""Style name -> rich style. ANSI names, so that the terminal's own palette applies."""
LIGHT: Final = {style: light for style, (_, light, _) in _STYLES.items()}
DARK: Final = {style: dark for style, (_, _, dark) in _STYLES.items()}
BACKGROUND: Final = {"light": "#ffffff", "dark": "#0d1117"}
BOLD: Final = frozenset({"name", "danger"})

JUPYTER: Final = {
    "good": "--jp-success-color1",
    "warn": "--jp-warn-color0",
    "danger": "--jp-error-color1",
    "native": "--jp-info-color0",
    "python": "--jp-content-link-color",
    "dim": "--jp-content-font-color2",
    "label": "--jp-content-font-color2",
}
"""Style name -> JupyterLab's own variable, which follows its dark and light themes."""


CODE: Final = {
    "dim": "--vscode-descriptionForeground",
    "label": "--vscode-descriptionForeground",
    "danger": "--vscode-errorForeground",
    "python": "--vscode-textLink-foreground",
    "good": "--vscode-charts-green",
    "warn": "--vscode-charts-yellow",
    "native": "--vscode-charts-blue",
}
"""Style name -> the variable of VS Code's notebooks."""


def pair(style: str) -> str:
    """The colour of a style where no front end has one: for a light and a dark page."""
    return f"light-dark({LIGHT[style]}, {DARK[style]})"


def css(style: str) -> str:
    """The inline CSS of a style in HTML; "" for plain text. A page stays readable without it."""
    if style not in LIGHT or style in ("fact", "nothing", "code"):
        return ""
    weight = "font-weight:600;" if style in BOLD else ""
    if style == "name":
        return weight
    colour = f"var({JUPYTER[style]}, var({CODE[style]}, {pair(style)}))"
    return f"{weight}color:{colour}"
