"""Another live Python seen from outside: nothing runs in it, its memory is read while it stands still."""
