"""The verbs that a user holds over time: traces, leaks, previews, promises, compiled calls, debugging."""

# SPDX-License-Identifier: MIT
