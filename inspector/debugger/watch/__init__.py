"""Watch writes to an object's memory while a block runs."""

# SPDX-License-Identifier: MIT
