"""Objects that the adapter `scipy_sparse` is tried on."""

# SPDX-License-Identifier: MIT
import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator


def samples():
    """Every format, a product of operators, an empty matrix."""
    matrix = sp.csr_matrix(np.eye(4))
    yield from (matrix, matrix.T, sp.csr_array(matrix), sp.csr_matrix((0, 3)))
    yield from (matrix.asformat(form) for form in ("bsr", "coo", "csc", "dia", "dok", "lil"))
    yield sp.coo_matrix(([1, 2], ([0, 0], [0, 0])))
    yield from (aslinearoperator(matrix), aslinearoperator(matrix) @ aslinearoperator(matrix))
