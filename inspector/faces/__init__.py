"""What users see first: the terminal, full-screen views, launched programs, a cluster; and their shared options."""
