# The functions of altrep_classes.c in R; `altrep_classes` is the path of its library without the suffix.
# SPDX-License-Identifier: MIT
dyn.load(paste0(altrep_classes, .Platform$dynlib.ext))
lazy_abs <- function(x, faulty = FALSE) .Call("lazy_abs", x, faulty)
mapped_file <- function(path) .Call("mapped_file", path)
