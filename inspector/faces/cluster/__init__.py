"""Inspect the workers of a Dask cluster: the client, the code sent to workers, the code run there."""

# SPDX-License-Identifier: MIT
