"""Floor 6: full-screen views of facts in a terminal, by textual; opened by `browse` and `live`."""
