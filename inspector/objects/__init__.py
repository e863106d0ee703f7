"""One live object: what probes read, which layers hold its bytes, who owns it, what a conversion would do."""
