# R's profile in a traced program: keeps the sources of functions, counts and times the statements of the
# script, then runs the profile that R would have run. INSPECTOR_R_PROFILE is the R_PROFILE_USER of before;
# INSPECTOR_R_STATEMENTS begins the name of the file that gets a line for each statement that is over: its
# number (0: R is ready), seconds since 1970, its beginning; and "python", when reticulate starts Python.
# SPDX-License-Identifier: MIT
local({
    file <- paste0(Sys.getenv("INSPECTOR_R_STATEMENTS"), Sys.getpid(), ".txt")
    own <- Sys.getenv("INSPECTOR_R_PROFILE")
    Sys.unsetenv(c("INSPECTOR_R_STATEMENTS", "INSPECTOR_R_PROFILE", "R_PROFILE_USER"))
    done <- 0L
    note <- function(name, text = "") {
        cat(name, " ", format(as.numeric(Sys.time()), digits = 16), " ", text, "\n", file = file, append = TRUE, sep = "")
    }
    over <- function(statement, ...) {
        done <<- done + 1L
        note(done, substr(deparse(statement, nlines = 1L)[[1L]], 1L, 80L))
        TRUE
    }
    options(keep.source = TRUE, inspector.statements.done = function() done,
            reticulate.python.beforeInitialized = function() note("python"))
    if (nzchar(own)) Sys.setenv(R_PROFILE_USER = own)
    found <- Filter(file.exists, if (nzchar(own)) own else c(".Rprofile", path.expand("~/.Rprofile")))
    if (length(found)) sys.source(found[[1L]], globalenv(), keep.source = FALSE)
    note(0L)
    invisible(addTaskCallback(over, name = "inspector"))
})
