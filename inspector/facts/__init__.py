"""The facts: frozen, slotted dataclasses, one file a column. They import only the standard library."""

# SPDX-License-Identifier: MIT
