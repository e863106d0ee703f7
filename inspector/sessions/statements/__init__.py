"""What statements of the user's code bind, seen by looking at their names before and after each of them."""

# SPDX-License-Identifier: MIT
