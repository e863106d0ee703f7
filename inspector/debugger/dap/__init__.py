"""A Debug Adapter Protocol server: debugpy for Python, gdb for native code, one session for the editor."""

# SPDX-License-Identifier: MIT
