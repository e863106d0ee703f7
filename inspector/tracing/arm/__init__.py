"""The targets that a trace hooks: import slots, callables, type slots, tables of functions, allocators."""

# SPDX-License-Identifier: MIT
