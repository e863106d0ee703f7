"""What code asked for and left in use: in a block, in a test with a budget, in another process."""

# SPDX-License-Identifier: MIT
