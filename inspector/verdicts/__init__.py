"""Conclusions from facts: differences, copies, leaks, losses. Facts in, facts out; nothing is read."""

# SPDX-License-Identifier: MIT
