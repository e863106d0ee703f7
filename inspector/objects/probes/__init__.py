"""Floor 3: ask now. A live object (in a Subject) becomes facts; nothing is disturbed."""

# SPDX-License-Identifier: MIT
