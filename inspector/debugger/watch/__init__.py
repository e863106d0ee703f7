"""What of an object can be watched, and each write to its memory while a block runs."""
