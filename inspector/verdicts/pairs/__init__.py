"""Answers about two objects or more: who is a view of whom, and which bytes they share."""

# SPDX-License-Identifier: MIT
