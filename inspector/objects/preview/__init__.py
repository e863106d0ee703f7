"""Predict a conversion: by trying it in a forked child, or by rule."""
