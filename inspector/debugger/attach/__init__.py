"""Inspect another running Python from outside: its memory is read while it is stopped; no code runs in it."""

# SPDX-License-Identifier: MIT
