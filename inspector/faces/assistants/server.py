"""The MCP server: six tools, each one command of `inspector`.

Source: https://modelcontextprotocol.io/specification, by the package `mcp`.
"""

# SPDX-License-Identifier: MIT
from importlib.metadata import version
from typing import Final, Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from inspector.faces.assistants.asking import ask

SECONDS: Final = 120.0
INSTRUCTIONS: Final = (
    "What happens where Python meets native code, measured: whether bytes were copied, who owns an object "
    "and what keeps it alive, whether it is computed yet, which line converts, what native code leaks, why a "
    "process hangs or grows. Each tool runs its program in a new process. '?' means not known."
)
What = Literal["stacks", "show", "owners", "sample", "trace"]


def server() -> MCPServer:
    """The server with its tools; `run()` serves stdin and stdout."""
    released = version("native-inspector")
    made = MCPServer("native-inspector", instructions=INSTRUCTIONS, version=released, log_level="WARNING")
    for tool in (inspect, compare, trace, leaks, memory, attach):
        made.add_tool(tool)
    return made


async def inspect(expression: str, program: str = "", owners: bool = False, seconds: float = SECONDS) -> str:
    """Say what an object is: a view or not, who holds it, what writing does, what it keeps alive.

    expression: over the names of `program` (a path, which is run first), or over installed modules.
    owners: search memory for all holders, in native code too.
    """
    return await _text(
        ["show", *_script(program), *(["--owners"] if owners else []), "--", expression], seconds
    )


async def compare(expressions: list[str], program: str = "", seconds: float = SECONDS) -> str:
    """Say how objects are related: who is a view of whom, which bytes they share, what differs."""
    return await _text(["show", *_script(program), "--", *expressions], seconds)


async def trace(
    program: str, arguments: list[str] | None = None, module: bool = False, seconds: float = SECONDS
) -> str:
    """Run a Python program and say which of its lines copy or convert, how many bytes, and what is lost.

    program: a path, or with `module` a module's name.
    """
    return await _text(["trace", *_program(program, arguments, module)], seconds)


async def leaks(
    program: str,
    arguments: list[str] | None = None,
    module: bool = False,
    of: list[str] | None = None,
    seconds: float = SECONDS,
) -> str:
    """Run a Python program and say which native functions leak, steal or over-release references.

    of: watch only these extension modules.
    """
    chosen = [word for name in of or [] for word in ("--of", name)]
    return await _text(["leaks", *chosen, *_program(program, arguments, module)], seconds)


async def memory(program: str = "", pid: int = 0, seconds: float = SECONDS) -> str:
    """Say where memory went, each resident byte once: of a program after it ran, or of a running process."""
    return await _text(["memory", *_script(program), *(["--pid", str(pid)] if pid else [])], seconds)


async def attach(pid: int, what: What = "stacks", expression: str = "", seconds: float = SECONDS) -> str:
    """Look into a running Python process.

    stacks: why it hangs. show, owners: of `expression`, a path like cache["k"].rows.
    """
    return await _text(["attach", str(pid), what, *([expression] if expression else [])], seconds)


def _script(path: str) -> list[str]:
    return ["--script", path] if path else []


def _program(program: str, arguments: list[str] | None, module: bool) -> list[str]:
    return [*(["-m"] if module else []), program, *(arguments or [])]


async def _text(words: list[str], seconds: float) -> str:
    """The command's text. Raises ToolError with its complaint, which the assistant reads."""
    said = await ask(words, seconds)
    if said.refused:
        raise ToolError(said.text)
    return said.text
