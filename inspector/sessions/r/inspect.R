# R functions that look at R's own objects, by address: a value handed to Python would be converted first.
#
#   source(reticulate::import("inspector")$r())
#   inspect(x)              what x is, how much of it is in memory, who holds it
#   inspect_memory()        what the names of the global environment keep
#   inspect_trace({ ... })  by statement: what crossed to Python and back, what stayed lazy; $value is the last one's
#
# A notebook (IRkernel) and knitr show the card in HTML, a console in text.
# SPDX-License-Identifier: MIT
local({
    ours <- function() reticulate::import("inspector.sessions.r", convert = FALSE)
    address <- function(x) format(.Internal(address(x)))
    hex <- function(text) sub("^<pointer: (.*)>$", "\\1", text)
    shown <- function(report, all = FALSE) {
        width <- getOption("width")
        drawn <- report$drawn(width = max(as.integer(width), 20L), everything = all)
        structure(list(text = reticulate::py_to_r(drawn$to_text()), html = reticulate::py_to_r(drawn$to_html())),
                  class = "inspector_card")
    }
    # Environments in which a name may hold an object: the global one and those of the functions that run.
    environments <- function(last) {
        found <- list("0:" = hex(address(globalenv())))
        for (n in seq_len(last)) {
            name <- sys.call(n)[[1L]]
            words <- if (is.symbol(name)) as.character(name) else "function"
            frame <- sys.frame(n)
            if (hex(address(frame)) %in% found) next # eval() runs in the environment that it was given
            found[[sprintf("%d:%s()", n, words)]] <- hex(address(frame))
        }
        found
    }
    inspect <- function(x, all = FALSE) {
        name <- paste(deparse(substitute(x), nlines = 1L), collapse = "")
        if (inherits(x, "python.builtin.object"))
            return(shown(reticulate::import("inspector", convert = FALSE)$inspect(x, name = name), all))
        shown(ours()$inspect_r(hex(address(x)), name, environments(sys.nframe() - 1L)), all)
    }
    inspect_memory <- function() shown(ours()$memory_r(hex(address(globalenv()))))
    # Statement by statement, in the caller's frame. The option says which one runs; without it what crosses is ours.
    inspect_trace <- function(expr) {
        block <- substitute(expr)
        frame <- parent.frame()
        is_block <- is.call(block) && identical(block[[1L]], as.symbol("{"))
        refs <- if (is_block) attr(block, "srcref")[-1L]
        statements <- if (is_block) as.list(block)[-1L] else list(block)
        trace <- ours()$Block(hex(address(frame)))
        value <- NULL
        finished <- FALSE
        on.exit({
            options(inspector.block = NULL)
            trace$end()
            if (!finished) print_card(shown(trace$report())) # a statement failed: what was until then
        })
        for (n in seq_along(statements)) {
            ref <- if (length(refs) >= n) refs[[n]]
            text <- if (is.null(ref)) deparse(statements[[n]], nlines = 1L)[[1L]] else trimws(as.character(ref)[[1L]])
            line <- if (is.null(ref)) n else ref[[1L]]
            options(inspector.block = c(line, text))
            value <- eval(statements[[n]], frame)
            options(inspector.block = NULL)
            trace$after(line, text)
        }
        trace$end()
        finished <- TRUE
        card <- shown(trace$report())
        card$value <- value
        card
    }
    print_card <- function(x, ...) {
        cat(x$text)
        invisible(x)
    }
    methods <- list(
        c("print", "base", ""), c("repr_html", "repr", "html"), c("repr_text", "repr", "text"),
        c("knit_print", "knitr", "html")
    )
    for (one in methods) {
        method <- if (one[[1L]] == "print") print_card
            else if (one[[1L]] == "knit_print") function(x, ...)
                if (isTRUE(knitr::is_html_output())) knitr::asis_output(x$html) else knitr::asis_output(
                    paste0("```\n", x$text, "```\n"))
            else local({ part <- one[[3L]]; function(obj, ...) obj[[part]] })
        local({
            generic <- one[[1L]]
            package <- one[[2L]]
            use <- method
            register <- function(...) registerS3method(generic, "inspector_card", use, envir = asNamespace(package))
            if (isNamespaceLoaded(package)) register() else setHook(packageEvent(package, "onLoad"), register)
        })
    }
    for (name in c("inspect", "inspect_memory", "inspect_trace")) assign(name, get(name), envir = globalenv())
})
