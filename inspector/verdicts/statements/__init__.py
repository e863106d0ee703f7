"""What the statements of the user's code did, concluded from the values that they bound and their calls."""

# SPDX-License-Identifier: MIT
