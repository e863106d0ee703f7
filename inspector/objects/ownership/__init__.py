"""Floor 2: who holds an object, in words: rows of `_native` become named owners."""
