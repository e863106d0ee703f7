"""Floor 6: what a launched program's Python runs first, found by PYTHONPATH; LD_PRELOAD is never used."""

# SPDX-License-Identifier: MIT
