"""Floor 2: the layers of one object, from what its adapter says, its buffers, their mappings and pages."""
