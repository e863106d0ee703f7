"""Views that answer: one Python file and one small JavaScript file each, over the same facts as the cards."""

# SPDX-License-Identifier: MIT
