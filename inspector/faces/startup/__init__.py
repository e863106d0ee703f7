"""Floor 6: what the Python of a launched program runs first, found by PYTHONPATH; never LD_PRELOAD."""
