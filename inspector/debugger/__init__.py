"""Floor 3: stop and step. gdb runs in a process of its own; the kernel stays alive."""
