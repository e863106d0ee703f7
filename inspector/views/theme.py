"""The styles of the views on a terminal, in HTML and in SVG."""

# SPDX-License-Identifier: MIT
from typing import Final

TERMINAL: Final = {
    "fact": "none",
    "dim": "dim",
    "label": "dim",
    "name": "bold",
    "code": "bold",
    "good": "green",
    "warn": "yellow",
    "danger": "bold red",
    "native": "cyan",
    "python": "blue",
}
"""Style name -> rich style. ANSI names, so that the terminal's own palette applies."""

LIGHT: Final = {
    "fact": "#1f2328",
    "dim": "#5f6670",
    "label": "#5f6670",
    "name": "#1f2328",
    "code": "#1f2328",
    "good": "#1a7f37",
    "warn": "#8a5a00",
    "danger": "#b3261e",
    "native": "#0b6e77",
    "python": "#2557b8",
}
DARK: Final = {
    "fact": "#e6edf3",
    "dim": "#98a1ab",
    "label": "#98a1ab",
    "name": "#e6edf3",
    "code": "#e6edf3",
    "good": "#56c271",
    "warn": "#e0b050",
    "danger": "#ff7b72",
    "native": "#4fc3cf",
    "python": "#7fb0ff",
}
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


def css(style: str) -> str:
    """The inline CSS of a style in HTML; "" for plain text. A page stays readable without it."""
    if style not in LIGHT or style in ("fact", "code"):
        return ""
    weight = "font-weight:600;" if style in BOLD else ""
    if style == "name":
        return weight
    pair = f"light-dark({LIGHT[style]}, {DARK[style]})"
    colour = f"var({JUPYTER[style]}, {pair})" if style in JUPYTER else pair
    return f"{weight}color:{colour}"
