"""A trace while it runs: sources armed, events recorded, everything restored on every way out."""

# SPDX-License-Identifier: MIT
