"""Lazy providers for tests: an honest one, the seed's, and one for every clause of the contract broken."""

# SPDX-License-Identifier: MIT
import numpy as np

from inspector import lazy


class Squares(lazy.Vector):
    """i * i: both elt and get_region, honest."""

    def __init__(self, length, dtype="i8"):
        super().__init__(length, dtype, name="squares")

    def elt(self, i):
        return i * i

    def get_region(self, i, n, out):
        n = min(n, self.length - i)
        out[:n] = np.arange(i, i + n) ** 2
        return n


class OnlyElt(lazy.Vector):
    """i + 0.5 by elt alone."""

    def elt(self, i):
        return i + 0.5


class OnlyRegion(lazy.Vector):
    """i + 0.5 by get_region alone."""

    def get_region(self, i, n, out):
        n = min(n, self.length - i)
        out[:n] = np.arange(i, i + n) + 0.5
        return n


BROKEN = {}
"""Specimen -> the clause that it breaks."""


class Plain:
    """Lazy absolute values by the protocol alone, without our base class; honest."""

    dtype = np.dtype("f8")

    def __init__(self, length=100_000):
        self.data1 = np.linspace(-5, 3, length)
        self.data2 = None
        self.length = length

    def __init_subclass__(cls, breaks=""):
        if breaks:
            BROKEN[cls] = breaks

    def dataptr_or_null(self):
        return None if self.data2 is None else self.data2.ctypes.data

    def dataptr(self):
        if self.data2 is None:
            self.data2 = np.abs(self.data1)
        return self.data2.ctypes.data

    def elt(self, i):
        return abs(float(self.data1[i])) if self.data2 is None else float(self.data2[i])

    def values(self, i, n):
        return np.abs(self.data1[i : i + n])

    def get_region(self, i, n, out):
        n = min(n, self.length - i)
        out[:n] = self.values(i, n)
        return n


class Seed(Plain):
    """The seed's Get_region: it points its own `out` at the materialized data, and returns the larger count.

    `out` is a parameter: assigning to it fills nothing, so R's first mean of such a vector was 0.
    """

    def get_region(self, i, n, out):
        self.dataptr()
        out = self.data2[i:]  # noqa: F841
        left = self.length - i
        return left if left > n else n


class SeedAsVector(lazy.Vector):
    """The same bug on our own base class."""

    def __init__(self, length=100_000):
        super().__init__(length, "f8")

    def elt(self, i):
        return float(i)

    get_region = Seed.get_region


class EltMaterializes(Plain, breaks="elt never materializes"):
    def elt(self, i):
        self.dataptr()
        return super().elt(i)


class RegionMaterializes(Plain, breaks="get_region never materializes"):
    def get_region(self, i, n, out):
        self.dataptr()
        return super().get_region(i, n, out)


class LiesAboutLength(Plain, breaks="length"):
    def __len__(self):
        return self.length + 1


class AnotherEachTime(Plain, breaks="elt"):
    asked = 0

    def elt(self, i):
        self.asked += 1
        return super().elt(i) + self.asked


class RaisesAtTheEnd(Plain, breaks="elt"):
    def elt(self, i):
        if i == self.length - 1:
            raise RuntimeError("no last element")
        return super().elt(i)


class AnotherType(Plain, breaks="elt"):
    def elt(self, i):
        return str(super().elt(i))


class MoreThanThereIs(Plain, breaks="get_region returns count"):
    def get_region(self, i, n, out):
        super().get_region(i, n, out)
        return n


class LeavesOneOut(Plain, breaks="get_region fills out"):
    def get_region(self, i, n, out):
        n = min(n, self.length - i)
        out[: n - 1] = np.abs(self.data1[i : i + n - 1])
        return n


class WritesBehind(Plain, breaks="get_region fills out"):
    def get_region(self, i, n, out):
        out[:] = 7.0
        return super().get_region(i, n, out)


class Shifted(Plain, breaks="elt equals get_region"):
    def values(self, i, n):
        return np.abs(np.roll(self.data1, -1)[i : i + n])


class ForgetsTheStart(Plain, breaks="regions agree"):
    def values(self, i, n):
        return np.arange(n)


class FailsInTheLastBlock(Plain, breaks="last partial block"):
    def get_region(self, i, n, out):
        if i + n > self.length:
            raise IndexError("past the end")
        return super().get_region(i, n, out)


class OneAtTheEnd(Plain, breaks="length 0 and the end"):
    def get_region(self, i, n, out):
        return max(1, super().get_region(i, n, out)) if n else 0


class KeepsOut(Plain, breaks="out is given back"):
    def get_region(self, i, n, out):
        self.kept = out
        return super().get_region(i, n, out)


class OtherData(Plain, breaks="data equals elements"):
    def dataptr(self):
        if self.data2 is None:
            self.data2 = np.abs(self.data1)
            self.data2[-1] += 1
        return self.data2.ctypes.data


class OtherAfterwards(Plain, breaks="elt after materialization"):
    def elt(self, i):
        return abs(float(self.data1[i])) + (self.data2 is not None)


class RegionOtherAfterwards(Plain, breaks="data equals get_region"):
    def get_region(self, i, n, out):
        n = super().get_region(i, n, out)
        out[:n] += self.data2 is not None
        return n


class DataMoves(Plain, breaks="dataptr once"):
    def dataptr(self):
        self.before = self.data2
        self.data2 = np.abs(self.data1)
        return self.data2.ctypes.data


class StaysNull(Plain, breaks="dataptr once"):
    def dataptr_or_null(self):
        return None


class DataptrRaises(Plain, breaks="dataptr computes all"):
    def dataptr(self):
        raise MemoryError("no room")


class WrongSum(Plain, breaks="summaries"):
    def sum(self):
        return 0.0
