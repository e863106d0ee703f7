# Run by test_r_lazy.py under `inspector trace --lazy`; after each step R says itself what is still lazy.
# SPDX-License-Identifier: MIT
source(Sys.getenv("LOAD_CLASSES"))
plain <- function(x) length(capture.output(.Internal(inspect(x)))) > 2L
x <- 1:1000000
s <- as.character(x)
y <- lazy_abs(as.numeric(x))
first <- s[[3]]
middle <- mean(y)
cat("lazy", !grepl("compact", capture.output(.Internal(inspect(x)))), plain(y), "\n")
z <- sort(y)
ends <- function(v) range(v)
both <- ends(x)
cat("made", grepl("expanded", capture.output(.Internal(inspect(x)))), plain(y), "\n")
cat("preload", Sys.getenv("LD_PRELOAD"), system("echo $INSPECTOR_R_LAZY$LD_PRELOAD", intern = TRUE), "\n")
d <- vroom::vroom(I("number\n1.5\n2.5\n"), altrep = TRUE, progress = FALSE, delim = ",", col_types = "d")
stop("half way")
