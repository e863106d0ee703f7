"""What is looked at around one run of a node: its op's promises, reads outside of its inputs, lost values."""

# SPDX-License-Identifier: MIT
import time
from typing import Any

from inspector.facts.nodes import Breach
from inspector.tracing.arm.graph_contract import Promises, generated
from inspector.tracing.arm.graph_losses import Losing, Lost, program_of
from inspector.tracing.arm.guarded_reads import is_asked, reads_outside


class Checked:
    """A node that is about to run."""

    def __init__(self, node: Any, thunk: Any, inputs: list[Any], outputs: list[Any]) -> None:
        begin = time.perf_counter_ns()
        asked = is_asked(node)
        self._outside = reads_outside(thunk, inputs, generated(thunk)[0]) if asked else ()
        self.aside_ns = time.perf_counter_ns() - begin if asked else 0
        """Time that went into forked children."""
        given = [cell and cell[0] for cell in inputs]
        self._losing = Losing(node, given) if program_of(node).steps else None
        del given  # its references would be counted
        self._promises = Promises(node, thunk, inputs, outputs)
        self._made = outputs[0] if outputs else None

    def after(self) -> tuple[list[tuple[int, Breach]], list[Lost]]:
        """(inputs with what the op did to them, what elements lost); call it once, at once after the node."""
        broken = list(self._promises.broken())
        broken += [(which, Breach(did, "", 0, "", True)) for which, did in self._outside]
        made = self._made[0] if self._losing is not None and self._made is not None else None
        return broken, list(self._losing.found(made)) if self._losing is not None else []
