"""The records of a trace as columns, and the tables for their numbers."""

# SPDX-License-Identifier: MIT
