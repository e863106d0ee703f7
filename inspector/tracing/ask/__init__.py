"""Questions to a trace that has ended: calls, conversions, losses, lines; and its files."""
