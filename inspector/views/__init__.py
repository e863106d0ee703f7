"""Views turn facts into lines, and lines into terminal text, HTML or SVG. They see facts only."""

# SPDX-License-Identifier: MIT
