"""What `%config InspectMagics` sets: the options a user would otherwise type each time."""

from __future__ import annotations

from traitlets import Bool, Int
from traitlets.config import Configurable


class Defaults(Configurable):
    """Defaults of `%inspect`: an option on the line can only ask for more."""

    owners = Bool(False, help="Search memory for every holder, as --owners does.").tag(config=True)
    ask = Bool(False, help="Call the exporters of an object's protocols, as --ask does.").tag(config=True)
    everything = Bool(False, help="Show every row, as --all does.").tag(config=True)
    explain = Bool(False, help="A sentence and a link under each line, as --explain does.").tag(config=True)
    verbose = Bool(False, help="Full addresses and rare detail, as -v does.").tag(config=True)
    width = Int(80, min=20, max=1000, help="Cells a line of the text form.").tag(config=True)
    rows = Int(30, min=1, help="Names that %inspect alone shows; the rest is counted.").tag(config=True)
