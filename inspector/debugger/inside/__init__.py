"""Code that runs in gdb's Python: the agent, recording breakpoints, stepping."""

# SPDX-License-Identifier: MIT
