"""The finder of leaks on a hundred packages of others: each in its own room, each word of it judged again.

    make wild      those that have no answer yet, then docs/wild.md; ONLY=ujson,lxml asks these alone, and
                   leaves what the page says of the others

packages.toml has a few lines for each package, as its README uses it. They become a program, which runs under
`inspector leaks`; then each call runs several times (runs.py). The second witness (witness.py) calls each 200
times, twice, without the tool. An answer is a file of build/wild, and is made again where it was cut off.
"""

# SPDX-License-Identifier: MIT
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import entries
import page
from repro import repro

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = ROOT / "build" / "wild"
TOOL = BUILD / "tool"
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")
SECONDS = {"install": 400, "leaks": 240, "witness": 240, "repro": 30}
ASKED = """
import importlib.metadata, sys
made = importlib.metadata.distribution(sys.argv[1])
native = [one.parts[0] for one in made.files if ".so" in one.name and ".libs" not in one.parts[0]]
print(made.version, *sorted({one.partition(".")[0] for one in native}))
"""
"""What is asked of an installed package: its version, and where its extensions lie."""
LEAVING = ("leaked", "buffer not released", "capsule leaked", "bytes leaked outside objects")
GROWS = ("blocks", "bytes", "resident", "rises", "falls")


class Failed(Exception):
    """Why a package has no answer, as the page says it."""


def main(words):
    """Run what has no answer, then write the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    only = [one for one in parser.parse_args(words).only.split(",") if one]
    packages = listed()
    BUILD.mkdir(parents=True, exist_ok=True)
    tool()
    for name in only or packages:
        file = BUILD / f"{name}.json"
        if only or answer(file) is None:
            told = tried(name, packages[name])
            file.write_text(json.dumps(told, indent=1))
            print(entries.entry(told).row, flush=True)
    answers = [answer(BUILD / f"{name}.json") for name in packages]
    asked, said = {name: len(lines(entry)) for name, entry in packages.items()}, ROOT / "docs" / "wild.md"
    said.write_text(page.page([one for one in answers if one], asked, said.read_text()))


def listed():
    """The packages, with what each is tried with."""
    return tomllib.loads((HERE / "packages.toml").read_text())


def answer(file):
    """The answer that a file holds; None, which is told, where it was cut off."""
    try:
        told = json.loads(file.read_text())
    except FileNotFoundError:
        return None
    except ValueError:
        print(f"{file.stem}: the last answer was cut off", flush=True)
        return None
    return told if told["tried"] == listed()[file.stem] else None


def tool():
    """Put the project's wheel into a folder that every room reads last."""
    wheel = max((ROOT / "build" / "wheels").glob("3.11-*/*.whl"), key=lambda one: one.stat().st_mtime)
    stamp = BUILD / "tool.stamp"
    if not stamp.exists() or stamp.stat().st_mtime < wheel.stat().st_mtime:
        shutil.rmtree(TOOL, ignore_errors=True)
        words = [*PIP, "install", "-q", "--target", str(TOOL), str(wheel)]
        subprocess.run(words, check=True, stderr=subprocess.DEVNULL)
        stamp.touch()


def tried(name, entry):
    """The answer of one package."""
    start, room = time.time(), BUILD / "rooms" / name
    told = {"package": name, "version": "", "failed": "", "verdicts": [], "tried": entry}
    try:
        told["version"], modules = installed(name, room)
        (room / "program.py").write_text(program(entry))
        for part in ("runs.py", "witness.py"):
            shutil.copy(HERE / part, room)
        names = [f"call_{number}" for number in range(len(lines(entry)))]
        told |= run(room, entry.get("modules", modules), names)
        asked = names if all(one["call"] for one in told["verdicts"]) else [*names, "setup"]
        told["seen"] = seen = witnessed(room, asked)
        told["verdicts"] = [judged(one, seen) for one in told["verdicts"]]
        growing = [one for one in asked if "died" in seen[one] or any(seen[one][key] for key in GROWS)]
        told["untold"] = untold(growing, told)
        told["repros"] = {
            call: shown(room, entry, call, seen[call], entries.kind_of(found[0]["object"]))
            for call, found in entries.programs(told).items()
        }
    except Failed as failed:
        told |= {"failed": str(failed), "verdicts": []}
    finally:
        shutil.rmtree(room, ignore_errors=True)
    return told | {"seconds": round(time.time() - start, 1)}


def installed(name, room):
    """Make the room; the version that pip chose, and the packages that its extensions lie in."""
    shutil.rmtree(room, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(room)], check=True)
    pip = (*PIP, "--python", str(room / "bin" / "python"))
    code, _, error = ended([*pip, "install", "-q", "--only-binary", ":all:", name], room, "install")
    if code:
        raise Failed(f"pip does not install it: {why(code, error)}")
    (room / "lib" / "python3.11" / "site-packages" / "zz_tool.pth").write_text(f"{TOOL}\n")
    version, *modules = ended(python(room, "-c", ASKED, name), room, "witness")[1].split()
    return version, modules


def lines(entry):
    """The calls of a package."""
    return [line.strip() for line in entry["calls"].strip().splitlines()]


def program(entry):
    """The program: what is set up, a function for each call, all of them once if it is run."""
    functions = [f"def call_{number}(): {line}" for number, line in enumerate(lines(entry))]
    names = ", ".join(f"call_{number}" for number in range(len(functions)))
    runs = "if __name__ == '__main__':\n    for one in CALLS:\n        try: one()\n"
    end = "        except Exception: pass\n"
    again = f"def setup(): {again_of(entry['setup'])}"
    return "\n".join([entry["setup"].strip(), *functions, again, f"CALLS = ({names},)", runs + end])


def again_of(setup):
    """What sets up once more, as a call."""
    return f"exec({setup.strip()!r}, {{'__name__': 'again'}})"


def run(room, modules, names):
    """What is told of the program by `inspector leaks`, then of each call by several runs."""
    code, _, error = ended(python(room, "-P", "program.py"), room, "leaks")
    if code:
        raise Failed(f"without the tool: {why(code, error)}")
    words = [word for module in modules for word in ("--of", module)]
    whole_run = python(room, "-m", "inspector", "leaks", "--json", *words, "program.py")
    code, output, error = ended(whole_run, room, "leaks")
    try:
        whole = json.loads(output)["facts"]["leaks"]
    except (ValueError, KeyError):
        raise Failed(why(code, error)) from None
    calls = sum(one["calls"] for one in whole["watched"])
    failed = next((one["why"] for one in whole["watched"] if one["why"]), "")
    if failed or not calls:
        raise Failed(failed or "no call was seen")
    facts, died = several(room, modules, names)
    return {
        "calls": calls, "died": died, "watched": sum(one["functions"] for one in whole["watched"]),
        "verdicts": [brief(one, run.get("call", "")) for run in (whole, *facts) for one in run["verdicts"]],
        "grows": [fact["call"] for fact in facts if any(one["growth"] for one in fact["kept"])],
    }  # fmt: skip


def several(room, modules, names):
    """What several runs of each call tell, and which calls ended the process."""
    facts, died = [], []
    while names:
        words = python(room, "-P", "runs.py", "program.py", names[0], *modules)
        code, output, error = ended(words, room, "leaks")
        told = [json.loads(line) for line in output.splitlines() if line.startswith('{"call"')]
        facts, names = facts + told, names[len(told) :]
        if names:
            died.append(f"{names[0]}: {why(code, error)}")
            names = names[1:]
    return facts, died


def brief(verdict, call):
    """What the page and the witness need of a verdict."""
    made = verdict["conversion"]
    sites = [one["site"] for one in (made, *verdict["stack"]) if "site" in one]
    names = [one["function"] for one in sites if str(one["function"]).startswith("call_")]
    source = made.get("source")
    kept = ("kind", "object", "certain", "method", "said", "reason")
    told = {name: verdict[name] for name in kept}
    return told | {"line": source if isinstance(source, str) else "", "call": call or (names or [""])[0]}


def witnessed(room, names):
    """What the witness says of each call."""
    _, output, error = ended(python(room, "-P", "witness.py", "program.py", *names), room, "witness")
    found = [json.loads(line) for line in output.splitlines() if line.startswith('{"call"')]
    seen = {one.pop("call"): one for one in found}
    if len(seen) < len(names):
        raise Failed(f"no witness of {len(names) - len(seen)} calls: {error.strip()[-90:]}")
    return seen


def judged(verdict, seen):
    """The verdict, with the witness's word on its call; on each call if it names none."""
    names = [verdict["call"]] if verdict["call"] else list(seen)
    agree = [name for name in names if agrees(seen[name], verdict)]
    once = any(is_once(seen[name], verdict) for name in names)
    return verdict | {"right": bool(agree), "once": once, "call": (agree or names)[0]}


def is_once(seen, verdict):
    """Whether the first call left such an object with a reference that nothing explains, or so many bytes."""
    if verdict["kind"] == "bytes leaked outside objects":
        return seen["first"] >= int(re.sub(r"\D", "", verdict["object"]))
    return verdict["kind"] in LEAVING and entries.kind_of(verdict["object"]) in seen["once"]


def agrees(seen, verdict):
    """Whether what the witness saw of a call is what the verdict says."""
    kind = entries.kind_of(verdict["object"])
    if verdict["kind"] in LEAVING:
        is_new = not kind.startswith("class ") and "references more" not in verdict["reason"]
        return kind in seen["rises"] or (is_new and any(seen[one] for one in ("blocks", "bytes", "resident")))
    if verdict["kind"] in ("over-released", "borrowed reference stolen"):
        return "died" in seen or kind in seen["falls"]
    return "died" in seen or seen["raised"] == "SystemError"


def untold(growing, told):
    """The calls that the witness saw grow, and of which neither a verdict nor a line `grows` told."""
    named = {one["call"] for one in told["verdicts"] if one["right"]}
    return [name for name in growing if name not in named and name not in told["grows"]]


def shown(room, entry, name, seen, kind):
    """A few lines that show it with the package and the standard library only, and what they print."""
    call = again_of(entry["setup"]) if name == "setup" else lines(entry)[int(name.removeprefix("call_"))]
    text = repro(entry["setup"], call, seen, kind)
    (room / "repro.py").write_text(text)
    try:
        code, output, error = ended(python(room, "-P", "repro.py"), room, "repro")
    except Failed as failed:
        return f"{text}  # {failed}"
    return f"{text}  # {why(code, error) if code else output.strip()}"


def python(room, *words):
    """A command of the room's Python."""
    return [str(room / "bin" / "python"), *words]


def ended(words, room, step):
    """Exit code, output and errors of a program; it and what it started are ended at the deadline."""
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1"}
    pipe = subprocess.PIPE
    child = subprocess.Popen(
        words, cwd=room, env=environment, text=True, errors="replace", start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe,
    )  # fmt: skip
    try:
        output, error = child.communicate(timeout=SECONDS[step])
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        raise Failed(f"{step}: stopped after {SECONDS[step]} s") from None
    return child.returncode, output, error


def why(code, error):
    """In words, how a program ended."""
    if code < 0:
        return f"ended by {signal.Signals(-code).name}"
    return f"exit code {code}: {(error.strip().splitlines() or ['nothing was said'])[-1][:90]}"


if __name__ == "__main__":
    main(sys.argv[1:])
