"""What to write instead of lines that copy."""

# SPDX-License-Identifier: MIT
