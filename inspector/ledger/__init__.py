"""The ledger of references while code runs, and the suspects when it is closed."""

# SPDX-License-Identifier: MIT
