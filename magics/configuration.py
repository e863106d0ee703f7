"""Defaults of `%inspect` options, set by `%config InspectMagics`."""

# SPDX-License-Identifier: MIT
from traitlets import Bool, Int
from traitlets.config import Configurable


class Defaults(Configurable):
    """Defaults of `%inspect`; options on the line add to them."""

    owners = Bool(False, help="Search memory for all holders, as --owners does.").tag(config=True)
    ask = Bool(False, help="Call an object's protocol methods, as --ask does.").tag(config=True)
    everything = Bool(False, help="Show every row, as --all does.").tag(config=True)
    explain = Bool(False, help="Explain each line, as --explain does.").tag(config=True)
    verbose = Bool(False, help="Show full addresses and more detail, as -v does.").tag(config=True)
    width = Int(80, min=20, max=1000, help="Columns of the text form.").tag(config=True)
    rows = Int(30, min=1, help="How many names %inspect alone shows; the rest is counted.").tag(config=True)
