"""The finder of leaks on planted faults: twelve packages, each built once with all of operators.py inside.

    make planted   those that have no answer yet, then docs/planted.md; ONLY=pyrsistent asks these again

packages.toml has a few lines for each package. They become a program; a fault is tried by the first of its
calls that passes the place, once, and by several runs where that told nothing. What passes, and by which
functions, the fault itself writes down. An answer is a line of build/planted, and none is asked for twice.
"""

# SPDX-License-Identifier: MIT
import argparse
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))
import operators
import rig as wild
import table

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
BUILD = ROOT / "build" / "planted"
SECONDS = 60
MOST = 20
"""Faults of one package, as many of each kind as there are."""
FLAGS = "-O1 -g -w -fno-ipa-icf -fno-optimize-sibling-calls -include {header}"


def main(words):
    """Try what has no answer, then write the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--most", type=int, default=MOST)
    options = parser.parse_args(words)
    packages = tomllib.loads((HERE / "packages.toml").read_text())
    BUILD.mkdir(parents=True, exist_ok=True)
    wild.BUILD.mkdir(parents=True, exist_ok=True)
    wild.tool()
    only = [one for one in options.only.split(",") if one]
    for name in only or packages:
        for told in tried(name, packages[name], options.most):
            print(table.line(told), flush=True)
    answers = [one for name in packages for one in kept(BUILD / f"{name}.jsonl")]
    (ROOT / "docs" / "planted.md").write_text(table.page(answers))


def tried(name, entry, most):
    """The answers of one package, each as soon as it is there; first that of the package without a fault."""
    room, file = BUILD / "rooms" / name, BUILD / f"{name}.jsonl"
    faults = built(name, entry, room)
    (room / "program.py").write_text(wild.program(entry))
    calls = [f"call_{number}" for number in range(len(wild.lines(entry)))]
    mark = hashlib.sha256(repr((entry, faults)).encode()).hexdigest()[:12]
    known = {(one["mark"], one["number"]) for one in kept(file)}
    server = Server(room, entry)
    reach = {call: set(server.ask("reach", 0, call)[1] or ()) for call in calls}
    bare = [(-1 - number, call, None) for number, call in enumerate(calls)]
    with file.open("a") as answers:
        for number, call, fault in (*bare, *chosen(name, faults, reach, most)):
            if (mark, number) not in known:
                told = {"package": name, "release": entry["release"], "mark": mark}
                told |= {"number": number, "call": call}
                told |= faulty(server, fault, call, file) if fault else innocent(server, call, room)
                print(json.dumps(told), file=answers, flush=True)
                yield told
    server.close()


def kept(file):
    """The answers that a file holds; a line that was cut off is told and made again."""
    told = []
    for line in file.read_text().splitlines() if file.exists() else ():
        try:
            told.append(json.loads(line))
        except ValueError:
            print(f"{file.stem}: an answer was cut off", flush=True)
    last = told[-1]["mark"] if told else ""
    return [one for one in told if one["mark"] == last]


def built(name, entry, room):
    """Make the room, with the package built from its sources, every fault inside; the faults."""
    source = fetched(name, entry["release"])
    faults = []
    for file in sorted(file for pattern in entry["files"] for file in source.glob(pattern)):
        original = file.with_name(f"{file.name}.original")
        if not original.exists():
            shutil.copy(file, original)
        text, more = operators.planted(original.read_text(), file.name, 1 + len(faults))
        faults += more
        file.write_text(text)
    stamp, texts = room / "built", repr((entry["release"], faults, (HERE / "planted.h").read_text(), FLAGS))
    if not stamp.exists() or stamp.read_text() != texts:
        shutil.rmtree(room, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(room)], check=True)
        flags = FLAGS.format(header=HERE / "planted.h")
        pip = (*wild.PIP, "--python", str(room / "bin" / "python"), "install", "-q", str(source))
        environment = {**os.environ, "CFLAGS": flags, "MAX_JOBS": "1"}
        subprocess.run(pip, check=True, env=environment, timeout=600, capture_output=True)
        (room / "lib" / "python3.11" / "site-packages" / "zz_tool.pth").write_text(f"{wild.TOOL}\n")
        stamp.write_text(texts)
    for part in (HERE / "trial.py", HERE / "functions.py", HERE.parent / "witness.py"):
        shutil.copy(part, room)
    return faults


def fetched(name, release):
    """The folder of the release as its authors published it, downloaded once by pip and unpacked."""
    folder = BUILD / "sources" / name
    if not folder.exists():
        downloads = BUILD / "downloads" / name
        asked = ("-q", "--no-deps", "--no-binary", ":all:", "-d", str(downloads), f"{name}=={release}")
        subprocess.run([*wild.PIP, "download", *asked], check=True, timeout=300)
        (archive,) = downloads.glob("*.tar.gz")
        with tarfile.open(archive) as opened:
            opened.extractall(BUILD / "unpacked" / name, filter="data")
        folder.parent.mkdir(parents=True, exist_ok=True)
        (unpacked,) = (BUILD / "unpacked" / name).iterdir()
        unpacked.rename(folder)
    return folder


def chosen(name, faults, reach, most):
    """So many faults whose place a call passes, of each kind in turn: (number, call, fault)."""
    kinds = defaultdict(list)
    for fault in faults:
        call = next((call for call, numbers in reach.items() if fault.number in numbers), None)
        if call:
            kinds[fault.kind].append((fault.number, call, fault))
    picked = random.Random(name)
    for one in kinds.values():
        picked.shuffle(one)
    turns = [one for row in range(most) for kind in sorted(kinds) for one in kinds[kind][row : row + 1]]
    return turns[:most]


def innocent(server, call, room):
    """What a call tells without a fault, each accusation judged by the second witness of `make wild`."""
    told = {"kind": "", "judged": []} | looked(server, 0, call)
    found = [one | {"call": call} for one in table.said(told)]
    if found:
        seen = wild.witnessed(room, [call])
        told["judged"] = [wild.judged(one, seen) for one in found]
    return told


def faulty(server, fault, call, file):
    """What a call tells with a fault, and does not tell without it."""
    told = asdict(fault) | looked(server, fault.number, call)
    bare = [one for one in kept(file) if not one["kind"] and one["call"] == call]
    known = [place(one) for told in bare for one in table.said(told)]
    for look in table.LOOKS:
        if look in told:
            found = told[look]["verdicts"]
            told[look]["verdicts"] = [one for one in found if place(one) not in known]
    if not table.said(told):
        code, seen = server.ask("witness", fault.number, call)
        told["seen"] = seen or {"died": f"exit code {code}"}
    return told


def place(verdict):
    """What a verdict is about: the same without a fault and with one."""
    return tuple(verdict[name] for name in ("kind", "method", "source", "object"))


def looked(server, number, call):
    """What one call told, then, where no function of the stack is named, several runs."""
    told = {}
    for look in table.LOOKS:
        code, found = server.ask(look, number, call)
        told[look] = {"code": code, **(found or {"passed": [], "verdicts": []})}
        if any(set(one["functions"]) & set(told[look]["passed"]) for one in told[look]["verdicts"]):
            break
    return told


class Server:
    """A process in the room that answers for many faults."""

    def __init__(self, room, entry):
        self.room, self.entry = room, entry
        self.child = None

    def ask(self, what, fault, call):
        """[exit code, answer]; what dies is a child of the process that is asked."""
        self.child = self.child or self._begun()
        print(json.dumps([what, fault, call, SECONDS]), file=self.child.stdin, flush=True)
        line = self.child.stdout.readline()
        if not line:
            sys.exit((self.room / "errors").read_text()[-500:])
        return json.loads(line)

    def _begun(self):
        extensions = self.entry["extensions"]
        watched = self.entry.get("watched", sorted({one.partition(".")[0] for one in extensions}))
        words = ("-P", "trial.py", "program.py", ",".join(extensions), ",".join(watched))
        environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
        environment["PYTHONPATH"] = str(self.room)
        with (self.room / "errors").open("a") as errors:
            return subprocess.Popen(
                wild.python(self.room, *words), cwd=self.room, env=environment, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
            )  # fmt: skip

    def close(self):
        """End it."""
        if self.child is not None:
            self.child.stdin.close()
            self.child.wait()


if __name__ == "__main__":
    main(sys.argv[1:])
