"""Floor 1: the facts. Frozen, slotted dataclasses; the standard library only; one file a column."""
