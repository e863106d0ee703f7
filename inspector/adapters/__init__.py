"""Floor 2: what one library means by "owner", "bytes", "layout". One file a library."""

# SPDX-License-Identifier: MIT
