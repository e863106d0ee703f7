"""What the card in the README shows: a transposed slice of a larger array, also held by a list and by a dict."""

# SPDX-License-Identifier: MIT
import numpy as np

big = np.arange(100_000.0)
x = big[20:32].reshape(3, 4).T
rows = [x]
cache = {"last": x}
