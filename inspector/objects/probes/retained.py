"""The column `retained`: the objects that only one object keeps alive."""

# SPDX-License-Identifier: MIT
from inspector.objects.reach.freed import freed as retained

__all__ = ["retained"]
