"""Floor 6: coding assistants. What the commands say, as tools of the Model Context Protocol."""
# SPDX-License-Identifier: MIT
