"""The ledger of references while code runs, and what is suspicious when it is closed."""
