"""Structs and strides: decode the memory of torch, R and CPython; compute overlap by arithmetic."""

# SPDX-License-Identifier: MIT
