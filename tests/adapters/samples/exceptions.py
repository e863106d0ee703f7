"""Exceptions with and without a traceback, of a class of a user's, and one that holds another."""

# SPDX-License-Identifier: MIT


class Own(Exception):
    def __init__(self, data):
        super().__init__(data)
        self.data = data


def raised():
    try:
        raise Own(bytearray(100)) from KeyError("first")
    except Own as error:
        return error


def samples():
    return [Exception(), ValueError("text", [1]), raised(), ExceptionGroup("two", [KeyError(), raised()])]
