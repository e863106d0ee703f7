"""Objects that the adapter `rpy2_vectors` is tried on."""

# SPDX-License-Identifier: MIT
import rpy2.rinterface as r

r.initr()  # the adapter sleeps until R runs
EXPRESSIONS = """
c(1,2) | 1:10 | as.numeric(1:10) | as.character(1:5) | sort(c(3,1,2)) | letters | TRUE | raw(3) | 1i
integer(0) | matrix(c(TRUE,NA,FALSE,TRUE),2) | matrix(1:6,2) | list(1,'a') | NA_integer_ | factor('a')
new.env() | NULL | quote(x) | sum | function(x) x | quote(f(x))
"""


def samples():
    """Plain and ALTREP vectors of every type, and what is no vector."""
    yield from (r.evalr(expression) for expression in EXPRESSIONS.strip().replace("\n", "|").split("|"))
