"""Run kernels uncompiled, and assert that each index lies inside its array.

Compiled kernels do not look: a wrong index reads or writes somewhere else, and NumPy takes a
negative one from the end. So each subscript a[i] in a kernel becomes a[inside(a, i)]. As a script,
it runs a campaign over all kernels and prints how many accesses it has checked:

    python tests/checked_kernels.py [file old new]

With three arguments, a mistake is planted in a file first, which the campaign must find.
"""

import ast
import builtins
import os
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np

NOT_KERNELS = {"intrinsic", "overload", "lru_cache", "contextmanager", "register_model", "cache"}
VECTORS = {"load", "store"}
"""Functions that are not decorated, because kernels are given instructions in their stead."""
checked: dict[str, int] = {}
"""Accesses of each kernel."""


def inside(array: Any, index: Any, kernel: str) -> Any:
    """The index itself, once it is known to lie inside the array or tuple."""
    checked[kernel] += 1
    shape = array.shape if isinstance(array, np.ndarray) else (len(array),)
    parts = index if isinstance(index, tuple) else (index,)
    assert len(parts) <= len(shape), f"{kernel}: {index} of {shape}"
    for part, size in zip(parts, shape, strict=False):
        if isinstance(part, slice):
            start, stop = part.start or 0, size if part.stop is None else part.stop
            fits = 0 <= start <= stop <= size
        else:
            fits = 0 <= part < size
        assert fits, f"{kernel}: {index} is outside of {shape}"
    return index


class _Checks(ast.NodeTransformer):
    """Puts checks into one function."""

    def __init__(self, kernel: str) -> None:
        self._kernel = kernel

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        array = ast.parse(ast.unparse(node.value), mode="eval").body
        name, kernel = ast.Name("__inside__", ast.Load()), ast.Constant(self._kernel)
        node.slice = ast.Call(name, [array, _as_value(node.slice), kernel], [])
        return node


def _as_value(index: ast.expr) -> ast.expr:
    """An index as an expression outside of brackets: 1:2 becomes slice(1, 2)."""
    if isinstance(index, ast.Slice):
        ends = [end or ast.Constant(None) for end in (index.lower, index.upper)]
        return ast.Call(ast.Name("slice", ast.Load()), ends, [])
    if isinstance(index, ast.Tuple):
        return ast.Tuple([_as_value(part) for part in index.elts], ast.Load())
    return index


def _is_kernel(node: ast.stmt) -> bool:
    if not isinstance(node, ast.FunctionDef):
        return False
    names = {
        ast.unparse(d.func if isinstance(d, ast.Call) else d).split(".")[-1]
        for d in node.decorator_list
    }
    return bool(names and not names & NOT_KERNELS)


class _Loader(SourceFileLoader):
    """Loads a module with checks in its kernels, and perhaps with a mistake."""

    mistake: tuple[str, ...] = ()

    def get_code(self, fullname: str) -> CodeType:
        text = Path(self.path).read_text()
        if self.mistake and self.path.endswith(self.mistake[0]):
            _, old, new = self.mistake
            assert old in text, "there is no such code"
            text = text.replace(old, new, 1)
        tree = ast.parse(text)
        vectors = fullname.endswith(".vectors")
        for node in tree.body:
            if _is_kernel(node) or (vectors and getattr(node, "name", "") in VECTORS):
                assert isinstance(node, ast.FunctionDef)
                kernel = f"{fullname.removeprefix('preftd.')}.{node.name}"
                if any(isinstance(part, ast.Subscript) for s in node.body for part in ast.walk(s)):
                    checked[kernel] = 0
                node.body = [_Checks(kernel).visit(statement) for statement in node.body]
        return compile(ast.fix_missing_locations(tree), self.path, "exec")


class _Finder(MetaPathFinder):
    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target)
        ours = fullname.startswith(("preftd", "benchmarks.published"))
        if spec is None or not ours or spec.origin is None:
            return spec
        spec.loader = _Loader(fullname, spec.origin)
        return spec


def main(mistake: tuple[str, ...]) -> None:
    """Run the campaign, and print what it has checked."""
    os.environ["NUMBA_DISABLE_JIT"] = "1"  # before numba is loaded
    vars(builtins)["__inside__"] = inside
    _Loader.mistake = mistake
    sys.meta_path.insert(0, _Finder())
    sys.path.append(str(Path(__file__).parents[1]))  # for benchmarks
    from campaign import run_all_kernels  # noqa: PLC0415  (it imports what is to be checked)

    run_all_kernels()
    for kernel, count in sorted(checked.items()):
        if not count:
            print(f"not run: {kernel}")
    print(f"{sum(checked.values())} accesses in {len(checked)} kernels")


if __name__ == "__main__":
    main(tuple(sys.argv[1:]))
