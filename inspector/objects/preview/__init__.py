"""Predict a conversion: by trying it in a forked child, or by rule."""

# SPDX-License-Identifier: MIT
