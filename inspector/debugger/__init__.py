"""Floor 3: breakpoints and stepping. gdb runs in its own process; the kernel stays alive."""

# SPDX-License-Identifier: MIT
