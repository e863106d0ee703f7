# Run by test_altrep_table.py: for each row "EXPRESSION<tab>USE", the class and state as we read them from memory and, a
# second time, as R's own .Internal(inspect) prints the vector. Lines "row<tab>class<tab>stands for<tab>ours<tab>R's".
# SPDX-License-Identifier: MIT
suppressMessages(library(reticulate))
ours <- import("inspector.sessions.r", convert = FALSE)
py_run_string("
def state(report):
    fact = report.r_object.lazy
    return '|'.join([fact.class_name, fact.package, fact.stands_for, str(fact.made)])
")
main <- import_main(convert = FALSE)
address <- function(x) sub("^<pointer: (.*)>$", "\\1", format(.Internal(address(x))))
columns <- function() vroom::vroom("numbers.csv", altrep = TRUE, progress = FALSE, delim = ",", col_types = "dic")
mapped <- function(values, type) {
  file <- tempfile()
  writeBin(values, file)
  .Internal(mmap_file(file, type, TRUE, FALSE))
}
wrapped <- function(x) .Internal(wrap_meta(x, FALSE, FALSE))
source(commandArgs(TRUE)[[1L]])
for (line in readLines(commandArgs(TRUE)[[2L]])) {
  words <- strsplit(line, "\t", fixed = TRUE)[[1L]]
  x <- eval(parse(text = words[[1L]]))
  if (nzchar(words[[2L]])) invisible(eval(parse(text = words[[2L]])))
  said <- capture.output(.Internal(inspect(x)))
  own <- py_to_r(main$state(ours$inspect_r(address(x), "x", dict())))
  cat("row", own, paste(sub("^ *@[0-9a-f]+ ", "", said[seq_len(min(3L, length(said)))]), collapse = " / "), sep = "\t")
  cat("\n")
}
