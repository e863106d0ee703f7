"""Two objects beside each other: the bytes, the file and the values that both have."""

# SPDX-License-Identifier: MIT
