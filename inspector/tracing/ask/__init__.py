"""Query a trace that has ended: calls, conversions, losses, lines; read and write its files."""

# SPDX-License-Identifier: MIT
