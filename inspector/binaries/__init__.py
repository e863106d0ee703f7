"""Native code as files: ELF symbols, DWARF lines, inlined calls, Cython lines, mappings, addresses."""

# SPDX-License-Identifier: MIT
