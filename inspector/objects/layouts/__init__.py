"""Structs and strides: what words of memory mean in torch, R and CPython; overlap by arithmetic."""
