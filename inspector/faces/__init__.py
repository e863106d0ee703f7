"""Floor 6: what users see first: terminal, screens, launched programs, a cluster, and their options."""

# SPDX-License-Identifier: MIT
