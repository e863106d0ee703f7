"""The layers of one object, from its adapter, its buffers, their mappings and pages."""

# SPDX-License-Identifier: MIT
