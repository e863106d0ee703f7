#' @useDynLib altrepisode, .registration=TRUE
#' @importFrom Rcpp sourceCpp
NULL
