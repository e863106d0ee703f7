"""What copies: the public operations of a library, called in forked children and judged by the bytes."""

# SPDX-License-Identifier: MIT
