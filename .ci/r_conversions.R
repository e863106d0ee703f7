# The second method of .ci/r_conversions.py, without a trace: both sides of each conversion, written down by R and
# by Python themselves. Reads "to_python EXPRESSION" and "to_r EXPRESSION" lines; says same, differs or reference.
# Attributes (names, dim, zone, class, ...) may be gained on the way, values may not. NaN, NA, None and NaT are one value.
# SPDX-License-Identifier: MIT
suppressMessages(library(reticulate))
py_run_string("
import datetime, decimal, fractions, numpy as np, pandas as pd, scipy.sparse
def number(x):
    return 'NA' if x != x else '%.17g' % x if isinstance(x, (float, np.floating)) else str(int(x))
def lone(x):
    if x is None or x is pd.NA or x is pd.NaT: return 'NA'
    if isinstance(x, (bool, np.bool_)): return str(bool(x))
    if isinstance(x, (int, float, np.number)) and not isinstance(x, np.complexfloating): return number(x)
    if isinstance(x, (complex, np.complexfloating)): return 'NA' if x != x else number(x.real) + '+' + number(x.imag) + 'i'
    if isinstance(x, (str, np.bytes_)): return repr(x.decode() if isinstance(x, bytes) else x)
    if isinstance(x, datetime.datetime): return zone(x) + instant(since(x))
    if isinstance(x, (list, tuple)) and len(x) == 1: return lone(x[0])
    return str(x) if isinstance(x, (datetime.date, datetime.timedelta, np.generic)) else seen(x)
def zone(x):
    return '' if x.tzinfo is None else '{zone:%s}{offset:%s}' % (x.tzinfo, x.strftime('%z'))
def instant(ns):
    return str(ns // 1000) + ('.%03d' % (ns % 1000) if ns % 1000 else '')
def since(x):
    if hasattr(x, 'value'): return x.value
    span = (x if x.tzinfo else x.replace(tzinfo=datetime.timezone.utc)) - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    return (span.days * 86400 + span.seconds) * 10**9 + span.microseconds * 1000
def instants(x):
    fine = x.dtype == 'M8[ns]'
    counts = x.ravel('F').astype('M8[ns]' if fine else 'M8[us]').astype(int).tolist()
    return '[' + ' '.join('NA' if one == -2**63 else instant(one if fine else one * 1000) for one in counts) + ']'
def levels(x):
    return '{levels:%s}' % ','.join(map(str, x.cat.categories)) if x.dtype == 'category' else ''
def labels(x):
    return '' if isinstance(x, pd.RangeIndex) else '{names:%s}' % ','.join(texts(x))
def texts(x):
    return list(map(str, x)) if x.nlevels > 1 else pd.Index(x, dtype=object).map(str) if x.dtype.kind != 'M' else x.astype(str)
def seen(x):
    if x is None: return 'none'
    if isinstance(x, (list, tuple)): return '[' + ' '.join(map(lone, x)) + ']'
    if isinstance(x, dict):
        return '{names:%s}' % ','.join(k if isinstance(k, str) else repr([k]) for k in x) + seen(list(x.values()))
    if isinstance(x, (bytearray, bytes)): return seen(list(x))
    if isinstance(x, np.ma.MaskedArray):
        return seen([None if hidden else one for one, hidden in zip(x.data.tolist(), np.ma.getmaskarray(x).tolist())])
    if isinstance(x, np.ndarray):
        x = np.asarray(x)
        dim = '{dim:%s}' % ','.join(map(str, x.shape)) if x.ndim > 1 else ''
        return dim + (instants(x) if x.dtype.kind == 'M' else seen(list(x.ravel('F'))))
    if scipy.sparse.issparse(x): return seen(x.toarray())
    if isinstance(x, pd.Series): return levels(x) + labels(x.index) + seen(list(x))
    if isinstance(x, pd.DataFrame) and not x.shape[1]: return ''
    if isinstance(x, pd.DataFrame):
        rows = labels(x.index).replace('names', 'rows') if len(x) else ''
        return rows + '{names:%s}' % ','.join(map(str, x)) + ''.join(levels(x.iloc[:, n]) + seen(list(x.iloc[:, n])) for n in range(x.shape[1]))
    one = isinstance(x, (bool, int, float, complex, str, np.generic, datetime.date)) or x is pd.NA
    return '[' + lone(x) + ']' if one else 'reference'
")
number <- function(x) ifelse(is.na(x), "NA", tolower(sprintf("%.17g", x)))
quoted <- function(x) ifelse(is.na(x), "NA", paste0("'", enc2utf8(x), "'"))
attribute <- function(name, x) if (length(x)) paste0("{", name, ":", paste(x, collapse = ","), "}") else ""
elements <- function(x) {
  if (inherits(x, "integer64")) return(as.character(x))
  if (inherits(x, "POSIXct")) return(ifelse(is.na(x), "NA", sprintf("%.0f", round(unclass(x) * 1e6))))
  if (inherits(x, "Date")) return(ifelse(is.na(x), "NA", format(x)))
  if (is.factor(x) || is.character(x)) return(quoted(as.character(x)))
  if (is.logical(x)) return(ifelse(is.na(x), "NA", ifelse(x, "True", "False")))
  if (is.complex(x)) return(ifelse(is.na(x), "NA", paste0(number(Re(x)), "+", number(Im(x)), "i")))
  if (is.raw(x)) as.character(as.integer(x)) else number(unclass(x))
}
item <- function(x) if (is.null(x)) "NA" else if (is.atomic(x) && length(x) == 1L) {
  paste0(attributes_of(x), elements(x))
} else seen(x)
CARRIED <- c("Date", "POSIXct", "POSIXlt", "POSIXt", "difftime", "integer64", "factor", "ordered", "AsIs", "data.frame")
attributes_of <- function(x) {
  zone <- if (inherits(x, "POSIXct")) attr(x, "tzone")
  offset <- if (any(nzchar(zone))) suppressWarnings(unique(format(x[!is.na(x)], "%z")))  # as R reads the zone
  paste0(attribute("zone", zone[nzchar(zone)]), attribute("offset", offset), attribute("units", if (inherits(x, "difftime")) units(x)),
         attribute("dim", if (length(dim(x)) > 1L) dim(x)), attribute("dimnames", if (length(dim(x)) > 1L) unlist(dimnames(x))),
         attribute("class", head(setdiff(oldClass(x), CARRIED), 1L)), attribute("levels", levels(x)),
         attribute("names", names(x)))
}
seen <- function(x) {
  if (is.null(x)) return("none")
  if (inherits(x, "POSIXlt")) x <- as.POSIXct(x)
  if (is.data.frame(x) && !length(x)) return("")
  if (is.data.frame(x)) {
    rows <- if (is.character(attr(x, "row.names")) && nrow(x)) attr(x, "row.names")
    columns <- vapply(x, function(one) if (is.list(one)) seen(unclass(one)) else seen(one), "")
    return(paste0(attribute("rows", rows), attribute("names", names(x)), paste(columns, collapse = "")))
  }
  if (inherits(x, "sparseMatrix")) x <- as.matrix(x) + 0
  if (inherits(x, "python.builtin.object") || !(is.list(x) || is.atomic(x))) return("reference")
  texts <- if (is.list(x)) vapply(x, item, "") else elements(x)
  paste0(attributes_of(x), "[", paste(texts, collapse = " "), "]")
}
values <- function(text) gsub("[{][^}]*[}]", "", text)
marks <- function(text) regmatches(text, gregexpr("[{][^}]*[}]", text))[[1L]]
compared <- function(from, to) {
  if (any(grepl("reference", c(from, to), fixed = TRUE))) return("reference")
  kept <- values(from) == values(to) && all(marks(from) %in% marks(to))
  if (kept) "same" else paste("differs", from, to, sep = "\t")
}
in_python <- function(x) py_eval("seen")(x)
for (line in readLines(commandArgs(TRUE)[[1L]], encoding = "UTF-8")) {
  text <- sub("^\\w+ ", "", line)
  cat("#", tryCatch({
    if (startsWith(line, "to_python")) {
      x <- eval(parse(text = text))
      compared(seen(x), in_python(r_to_py(x)))
    } else {
      p <- py_eval(text, convert = FALSE)
      compared(in_python(p), seen(py_to_r(p)))
    }
  }, error = function(e) paste("error", sub("\n.*", "", conditionMessage(e)))), "\n")
}
