"""Name the owners of an object, from the holder rows of `_native`."""

# SPDX-License-Identifier: MIT
