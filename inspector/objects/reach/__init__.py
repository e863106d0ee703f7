"""What objects reach, and what is kept beyond the names of a namespace."""

# SPDX-License-Identifier: MIT
