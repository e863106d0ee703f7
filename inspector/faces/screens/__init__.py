"""Floor 6: full-screen views of facts in a terminal, drawn by textual for `browse` and `live`."""

# SPDX-License-Identifier: MIT
