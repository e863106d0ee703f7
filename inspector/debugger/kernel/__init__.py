"""A process in front of ipykernel: it relays the kernel's channels, and owns the debug session."""

# SPDX-License-Identifier: MIT
