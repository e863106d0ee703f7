"""Answers about one object: rules that conclude from its facts, one question a file."""

# SPDX-License-Identifier: MIT
