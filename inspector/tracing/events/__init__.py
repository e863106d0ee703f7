"""The records of a trace as columns, and the tables that name what their numbers mean."""
