"""Listening over time: what is armed, recorded, decoded and stored."""
