"""Floor 3: facts in, facts out. What several columns say together: differences, and later findings."""
