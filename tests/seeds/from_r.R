# Run by test_reticulate.py: what docs/how-to/use_it_from_r.md shows, with what must hold after each step.
# SPDX-License-Identifier: MIT
suppressMessages(library(reticulate))
inspector <- import("inspector")
main <- import("__main__", convert = FALSE)
py_run_string("import sys\nclass O: pass\no = O()\ndef count(): return sys.getrefcount(o) - 1")
held <- function() {
  for (n in 1:3) gc()
  py_to_r(main$count())
}
say <- function(name, value) cat(sprintf("%s=%s\n", name, paste(value, collapse = "|")))

say("start", held())
ob <- main$o
say("one", held())
same <- ob
say("same", held())
other <- main$o
say("two", held())
owners <- inspector$owners(ob, scan = TRUE)$owners
say("owners", sort(unique(vapply(owners, function(one) one$holder, ""))))
options(width = 60)
drawn <- capture.output(print(inspector$inspect(ob, name = "ob", scan = TRUE)))
say("widest", max(nchar(drawn)))
say("head", trimws(drawn[1]))
rm(ob, same, other, owners)
say("end", held())

options(width = 120)
rpycall <- capture.output(print(inspector$inspect(import("rpycall", convert = FALSE))$drawn(everything = TRUE)))
say("rpycall", sum(grepl("call_r_function|call_python_function_on_main_thread", rpycall)))
x <- matrix(c(1, 2, 3, 4), 2)
report <- inspector$inspect(x)
say("matrix", report$buffer$holders[[1]]$name)
say("vector", inspector$inspect(c(1, 2, 3))$object$type_name)
numpy <- import("numpy", convert = FALSE)
trace <- inspector$trace("numpy")
with(trace, numpy$asarray(list(1, 2, 3)))
say("traced", grepl("asarray", py_str(trace)))
