"""Listening over time: what is armed, recorded, decoded and stored."""

# SPDX-License-Identifier: MIT
