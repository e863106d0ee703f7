# Run by test_r_objects.py: R's own objects as inspect.R shows them, each card under its name.
# SPDX-License-Identifier: MIT
suppressMessages(library(reticulate))
inspector <- import("inspector")
source(inspector$r())
options(width = 80)
classes <- commandArgs(TRUE)
source(classes[[1L]])
say <- function(name, card) {
  cat("#", name, "\n")
  print(card)
}
x <- 1:1000000
say("sequence", inspect(x))
cat("# compact\n")
.Internal(inspect(x))
say("by_reticulate", inspector$inspect(1:1000000))
v <- c(1, 2, NA)
l <- list(a = v)
f <- function(z) inspect(z)
say("plain", f(v))
s <- as.character(1:10)
invisible(s[[3]])
say("strings", inspect(s))
m <- matrix(c(1, 2, 3, 4), 2)
main <- import_main()
main$shown <- m
say("shared", inspect(m))
y <- lazy_abs(c(-1, 2))
say("class", inspect(y))
invisible(sort(y))
say("class_made", inspect(y))
say("python", inspect(import("sys", convert = FALSE)$path))
say("memory", inspect_memory())
w <- c(1, 2)
card <- inspect_trace({
  seq <- 1:1000
  list <- r_to_py(w)
  more <- seq + 1L
  lost <- r_to_py(NA)
  sum(more)
})
say("trace", card)
say("value", card$value)
try(inspect_trace({ r_to_py(w); stop("half way") }), silent = TRUE)
say("after", is.null(getOption("inspector.block")))
cat("# html\n", substr(inspect(x)$html, 1, 4), "\n")
