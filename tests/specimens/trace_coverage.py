"""How much of a library's border a trace sees; as a program it prints the table of docs/benchmarks.md.

Import slots are those through which the library's modules call Python's C API. Of the calls that its work
makes, all are counted by grade count; what grade record counts of them, and does not record, is taken off.
"""

# SPDX-License-Identifier: MIT
import importlib
import io
from collections.abc import Callable
from typing import Any

import inspector
from inspector.facts.conversion import Seen

Work = Callable[[Any], object]
ROWS = [{"name": f"row {n}", "value": n / 2, "whole": n} for n in range(300)]
NUMBERS = [n / 3 for n in range(1000)]
PAGE = "<page>" + "<row key='1'>text</row>" * 300 + "</page>"


def _numpy(np: Any) -> object:
    grid = np.array(NUMBERS).reshape(20, -1)
    return np.sort(grid.T.copy()).tolist(), np.array([str(n) for n in NUMBERS]), np.frombuffer(b"1234" * 100)


def _pandas(pd: Any) -> object:
    frame = pd.DataFrame(ROWS)
    return frame.groupby("whole").sum(), pd.read_csv(io.StringIO(frame.to_csv()))


def _pyarrow(pa: Any) -> object:
    table = pa.Table.from_pylist(ROWS)
    return table.slice(3).to_pylist(), pa.array(NUMBERS).to_numpy()


def _polars(pl: Any) -> object:
    return pl.DataFrame(ROWS).filter(pl.col("whole") > 3).to_dicts()


def _torch(torch: Any) -> object:
    made = torch.tensor(NUMBERS).reshape(20, -1)
    return (made @ made.T).tolist(), made.numpy(), torch.stack(list(made))


def _lxml(etree: Any) -> object:
    root = etree.fromstring(PAGE)
    return [(one.get("key"), one.text) for one in root.iterfind("row")], etree.tostring(root)


def _pydantic(core: Any) -> object:
    fields = {"name": "str", "value": "float", "whole": "int"}
    schema = {key: {"type": "typed-dict-field", "schema": {"type": kind}} for key, kind in fields.items()}
    check = core.SchemaValidator({"type": "typed-dict", "fields": schema})
    text = '{"name":"x","value":1,"whole":2}'
    return [check.validate_python(row) for row in ROWS], check.validate_json(text)


def _pillow(image: Any) -> object:
    made = image.frombytes("RGB", (64, 64), bytes(64 * 64 * 3))
    return made.resize((32, 32)).tobytes(), [made.getpixel((x, 1)) for x in range(64)]


def _scipy(sparse: Any) -> object:
    made = sparse.random(100, 100, 0.1, format="csr", random_state=1)
    return (made @ made).toarray(), made.tocsc()


def _h5py(h5py: Any) -> object:
    with h5py.File("inspector", "w", driver="core", backing_store=False) as file:
        file["numbers"] = NUMBERS
        file["texts"] = [row["name"] for row in ROWS]
        return file["numbers"][10:20], file["texts"][:]


def _cffi(backend: Any) -> object:
    cffi = importlib.import_module("cffi")
    ffi = cffi.FFI()
    return ffi.unpack(ffi.new("double[]", NUMBERS), 1000), [float(ffi.cast("double", n)) for n in NUMBERS]


def _bitarray(bitarray: Any) -> object:
    made = bitarray.bitarray(n > 100 for n in NUMBERS)
    return made.tolist(), made.tobytes(), made.count()


def _msgpack(msgpack: Any) -> object:
    return msgpack.unpackb(msgpack.packb(ROWS))


def _duckdb(duckdb: Any) -> object:
    return duckdb.sql("select range a, range / 2 b from range(500)").fetchall()


WORK: dict[str, tuple[str, Work]] = {
    **{one.__name__[1:]: (one.__name__[1:], one) for one in (_numpy, _pandas, _pyarrow, _polars, _torch)},
    "lxml": ("lxml.etree", _lxml),
    "pydantic_core": ("pydantic_core", _pydantic),
    "PIL": ("PIL.Image", _pillow),
    "scipy": ("scipy.sparse", _scipy),
    "h5py": ("h5py", _h5py),
    "_cffi_backend": ("_cffi_backend", _cffi),
    **{one.__name__[1:]: (one.__name__[1:], one) for one in (_bitarray, _msgpack, _duckdb)},
}
"""Package -> the module that the work is given, and the work."""
HEAD = ("library", "import slots", "with values", "calls of its work", "recorded", "functions hooked")


def counted(package: str, grade: Any, work: Callable[[], object]) -> tuple[Seen, int]:
    """What the trace says it saw of the package, and how many C-API calls it only counted."""
    with inspector.trace(package, grade=grade) as t:
        work()
    (seen,) = (one for one in t.seen if one.module == package)
    return seen, sum(one.times for one in t.fact.counted)


def row(package: str) -> str:
    """One line of the table; the work runs once before, so that caches are filled."""
    name, body = WORK[package]
    module = importlib.import_module(name)

    def work() -> object:
        return body(module)

    work()
    seen, calls = counted(package, "count", work)
    _, left = counted(package, "record", work)
    unseen = ", ".join(f"{count:,} {kind}" for kind, count in sorted(seen.functions_unseen.items()))
    share = f"{(calls - left) / calls:.0%}" if calls else "-"
    numbers = (seen.imports, seen.imports_hooked, calls, seen.functions_hooked)
    cells = [f"{number:,}" for number in numbers]
    cells.insert(3, share)
    return f"| {package} | {' | '.join(cells)} | {unseen} |"


def table() -> None:
    """The whole of it, in Markdown."""
    print(f"| {' | '.join(HEAD)} | without a hook |\n|---|{'---:|' * 5}---|")
    for package in WORK:
        print(row(package), flush=True)


if __name__ == "__main__":
    table()
