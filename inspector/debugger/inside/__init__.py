"""What runs inside gdb's own Python: the agent, breakpoints that collect, stepping."""
