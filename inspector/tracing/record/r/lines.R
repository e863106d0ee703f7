# In a traced R: a function that says which line of the user's a conversion comes from.
#
# It gives list(texts, data frame or list(external pointer of the Python object that a method converts), or NULL).
# The texts: file; first and last line and text of the top-level statement; line and text within the function of
# the user's that called, and that function's name, "" at top level; the R function that was called; the S3 method
# that it took; what that method leaves out on the way to Python, or the zone that it gives on the way to R;
# "starting" if Python or a package was just starting.
# SPDX-License-Identifier: MIT
local({
    starts <- c("ensure_python_initialized", "library", "require", "loadNamespace", "requireNamespace", "import",
                "use_python", "use_virtualenv", "use_condaenv", "py_config", "py_discover_config", "py_available",
                "py_module_available", "py_resolve_module_proxy", "py_flush_output")
    file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1L])
    parsed <- if (is.na(file)) NULL else tryCatch(parse(file, keep.source = TRUE), error = function(e) NULL)
    refs <- attr(parsed, "srcref")
    texts <- vapply(refs, function(ref) paste(as.character(ref), collapse = "\n"), "")
    statement <- getOption("inspector.statements.done")

    own <- function(f) {
        e <- environment(f)
        !is.null(e) && identical(topenv(e), globalenv())
    }
    called <- function(call) {
        f <- call[[1L]]
        if (is.symbol(f)) return(as.character(f))
        if (is.call(f) && length(f) == 3L && as.character(f[[1L]])[1L] %in% c("::", ":::")) as.character(f[[3L]]) else ""
    }
    # The source reference of the smallest statement of `e` that holds an identical call, else `ref`.
    within <- function(e, call, ref) {
        if (identical(e, call, ignore.srcref = TRUE)) return(ref)
        if (!is.call(e) && !is.expression(e) && !is.pairlist(e)) return(NULL)
        inner <- attr(e, "srcref")
        if (!is.list(inner)) inner <- NULL
        for (i in seq_along(e)) {
            one <- e[[i]]
            if (missing(one) || !(is.call(one) || is.pairlist(one))) next
            found <- within(one, call, if (length(inner) >= i && !is.null(inner[[i]])) inner[[i]] else ref)
            if (!is.null(found)) return(found)
        }
        NULL
    }
    # Number of the statement at top level that runs; 0: not known.
    running <- function(call) {
        if (is.function(statement)) return(if (statement() < length(parsed)) statement() + 1L else 0L)
        holds <- which(vapply(seq_along(parsed), function(i) !is.null(within(parsed[[i]], call, refs[[i]])), NA))
        if (length(holds) == 1L) holds else 0L
    }
    # (line, text) of a reference; one of a function of the script counts from its statement's first line.
    placed <- function(ref) {
        source <- attr(ref, "srcfile")
        text <- trimws(as.character(ref))
        base <- 0L
        if (!nzchar(source$filename)) {
            at <- match(sub("\n+$", "", paste(source$lines, collapse = "\n")), texts, 0L)
            if (at == 0L) return(c("", "0", text[[1L]]))
            base <- refs[[at]][[1L]] - 1L
        }
        c(if (nzchar(source$filename)) source$filename else file, as.character(base + ref[[1L]]), paste(text, collapse = " "))
    }
    # What lapply does not keep of a list: r_to_py.list hands on what it gives.
    unlisted <- function(x) {
        lost <- setdiff(names(attributes(x)), c("names", "class", "dim"))
        if (!length(lost) && length(kind <- setdiff(oldClass(x), c("AsIs", "list")))) lost <- paste("class", kind[[1L]])
        paste(c(if (!is.null(dim(x))) paste("dim", paste(dim(x), collapse = ", ")), lost), collapse = ", ")
    }

    levels_of <- function(x) {
        some <- levels(x)[seq_len(min(nlevels(x), 3L))]
        paste0("levels ", paste(some, collapse = if (is.ordered(x)) " < " else ", "), if (nlevels(x) > 3L) ", \u2026")
    }

    # Whether a call names what it works on, and holds no object that would live as long as we keep the call.
    names_all <- function(e) {
        if (!is.call(e) && !is.pairlist(e)) return(is.symbol(e) || is.atomic(e) && length(e) < 9L)
        for (one in as.list(e)) if (!missing(one) && !names_all(one)) return(FALSE)
        TRUE
    }

    # (calls, number of the statement, what was said): a loop goes there and back by the same calls
    last <- list()

    function() {
        n <- sys.nframe() - 1L
        calls <- sys.calls()[seq_len(n)]
        at_statement <- if (is.function(statement)) statement() else 0L
        for (one in last) if (identical(list(calls, at_statement), one[1:2], ignore.srcref = FALSE)) return(one[[3L]])
        names <- vapply(calls, called, "")
        at <- n
        while (at > 0L && !own(sys.function(at))) at <- at - 1L
        call <- if (at < n) calls[[at + 1L]] else NULL
        top <- running(if (n) calls[[1L]] else NULL)
        whole <- if (top) refs[[top]] else NULL
        inside <- c("", "0", "")
        if (at > 0L && !is.null(ref <- attr(call, "srcref"))) inside <- placed(ref)
        else if (at == 0L && top && !is.null(call)) {
            ref <- within(parsed[[top]], call, whole)
            if (!is.null(ref) && !identical(as.integer(ref), as.integer(whole))) inside <- placed(ref)
        }
        method <- grep("^(r_to_py|py_to_r)[.]", names[seq_len(n) > at], value = TRUE)
        stamp <- match("r_to_py.POSIXt", names, 0L)
        zone <- if (stamp > at) attr(sys.frame(stamp)$x, "tzone")[1L] else NULL
        frame <- match("r_convert_dataframe", names, 0L)
        if (frame > at) zone <- unlist(unique(lapply(sys.frame(frame)$dataframe, function(column)
            if (inherits(column, "POSIXct")) attr(column, "tzone")[1L])))
        left <- if (any(nzchar(zone))) paste("time zone", paste(zone, collapse = " or ")) else ""
        if (n > 1L && names[[n - 1L]] == "r_to_py.list") left <- unlisted(sys.frame(n - 1L)$x)
        factored <- match("r_to_py.factor", names, 0L)
        if (factored > at) left <- levels_of(sys.frame(factored)$x)
        given <- match(paste0("py_to_r.", c("pandas.core.frame.DataFrame", "pandas.DataFrame", "pandas.core.series.Series",
                                            "pandas.Series", "numpy.ndarray", "datetime.datetime")), names, 0L)
        sparse <- grep("^r_to_py[.](dg[CRT]|sparse)Matrix$", names)
        if (any(sparse > at) && any(lengths(attr(sys.frame(sparse[[1L]])$x, "Dimnames")))) left <- "dimnames"
        whole_object <- NULL
        if (length(given <- given[given > at])) {
            whole_object <- list(get0("pyobj", envir = sys.frame(given[[1L]])$x, inherits = FALSE))
            if (names[[given[[1L]]]] == "py_to_r.datetime.datetime") left <- c(sys.frame(given[[1L]])$tz, "")[[1L]]
        }
        said <- list(c(if (top) file else "",
               if (top) c(whole[[1L]], whole[[3L]], trimws(texts[[top]])) else c("0", "0", ""),
               inside, if (at > 0L) names[[at]] else "",
               if (at < n) names[[at + 1L]] else "", c(method, "")[[1L]],
               left,
               if (any(names %in% starts)) "starting" else ""),
             if (frame > at) sys.frame(frame)$dataframe else whole_object)
        of_object <- max(stamp, frame, factored, given, sparse, 0L) > at || n > 1L && names[[n - 1L]] == "r_to_py.list"
        if (!of_object && all(vapply(calls, names_all, NA)))
            last <<- c(list(list(calls, at_statement, said)), last[seq_len(min(length(last), 3L))])
        said
    }
})
