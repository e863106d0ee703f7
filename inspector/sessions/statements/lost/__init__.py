"""What a statement's values show that it lost."""

# SPDX-License-Identifier: MIT
