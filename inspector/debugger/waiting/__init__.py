"""What threads of another process wait for: system calls, futexes, Python's locks, and who holds them."""

# SPDX-License-Identifier: MIT
