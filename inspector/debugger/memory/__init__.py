"""Read frames and values of Python and R, and native stacks, from another process's memory."""

# SPDX-License-Identifier: MIT
