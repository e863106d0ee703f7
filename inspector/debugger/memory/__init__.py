"""Another process read from its memory: Python's and R's frames and values, native stacks, merged."""
