# R's profile in a traced program: keeps the sources of functions, counts and times the statements of the
# script, then runs the profile that R would have run. INSPECTOR_R_PROFILE is the R_PROFILE_USER of before;
# INSPECTOR_R_STATEMENTS begins the name of the file that gets a line for each statement that is over: its
# number (0: R is ready), seconds since 1970, its first and last line (0: not known), its beginning; and
# "python", when reticulate starts Python.
# Of lazy vectors (--lazy), the library INSPECTOR_R_LIBRARY is told when a statement is over; what R starts
# itself is not preloaded with it.
# SPDX-License-Identifier: MIT
local({
    file <- paste0(Sys.getenv("INSPECTOR_R_STATEMENTS"), Sys.getpid(), ".txt")
    own <- Sys.getenv("INSPECTOR_R_PROFILE")
    library <- Sys.getenv("INSPECTOR_R_LIBRARY")
    preload <- Sys.getenv("INSPECTOR_R_PRELOAD")
    Sys.unsetenv(c("INSPECTOR_R_STATEMENTS", "INSPECTOR_R_PROFILE", "R_PROFILE_USER", "INSPECTOR_R_LIBRARY",
                   "INSPECTOR_R_PRELOAD", "INSPECTOR_R_LAZY"))
    tell <- if (nzchar(library)) getNativeSymbolInfo("inspector_lazy_over", dyn.load(library))
    if (nzchar(library)) if (nzchar(preload)) Sys.setenv(LD_PRELOAD = preload) else Sys.unsetenv("LD_PRELOAD")
    script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1L])
    refs <- if (is.na(script)) NULL else tryCatch(attr(parse(script, keep.source = TRUE), "srcref"), error = function(e) NULL)
    done <- 0L
    note <- function(name, lines = c(0L, 0L), text = "") {
        cat(name, format(as.numeric(Sys.time()), digits = 16), lines, text, "\n", file = file, append = TRUE)
    }
    over <- function(statement, ...) {
        done <<- done + 1L
        text <- substr(deparse(statement, nlines = 1L)[[1L]], 1L, 80L)
        ref <- if (done <= length(refs)) refs[[done]]
        note(done, if (is.null(ref)) c(0L, 0L) else ref[c(1L, 3L)], text)
        if (!is.null(ref)) text <- as.character(ref)[[1L]]
        if (!is.null(tell)) .Call(tell, done, if (is.null(ref)) 0L else ref[[1L]], text)
        TRUE
    }
    options(keep.source = TRUE, inspector.statements.done = function() done,
            reticulate.python.beforeInitialized = function() note("python"))
    if (nzchar(own)) Sys.setenv(R_PROFILE_USER = own)
    found <- Filter(file.exists, if (nzchar(own)) own else c(".Rprofile", path.expand("~/.Rprofile")))
    if (length(found)) sys.source(found[[1L]], globalenv(), keep.source = FALSE)
    note(0L)
    packages <- setdiff(getOption("defaultPackages"), sub("^package:", "", search())) # attached after the profile
    ready <- function(...) .Call(tell, 0L, 0L, "")
    if (!is.null(tell)) if (length(packages)) setHook(packageEvent(packages[[length(packages)]], "attach"), ready) else ready()
    invisible(addTaskCallback(over, name = "inspector"))
})
