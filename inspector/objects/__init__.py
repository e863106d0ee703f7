"""One live object: probes, the layers of its bytes, its owners, and previews of conversions."""

# SPDX-License-Identifier: MIT
