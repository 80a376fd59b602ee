"""Code lines of the library, without docstrings, comments and blank lines, by package."""

import ast
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import preftd

IGNORED = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE),
    *(tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
}


def code_lines(path: Path) -> int:
    """Count the lines of a module that hold code."""
    lines: set[int] = set()
    with tokenize.open(path) as file:
        for token in tokenize.generate_tokens(file.readline):
            if token.type not in IGNORED:
                lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = node.body[0] if ast.get_docstring(node, clean=False) is not None else None
            lines.difference_update(range(text.lineno, (text.end_lineno or 0) + 1) if text else ())
    return len(lines)


def table() -> Iterator[str]:
    """Yield a Markdown table with a row per package, the largest first."""
    root = Path(preftd.__file__).parent
    lines: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for path in root.rglob("*.py"):
        parts = path.relative_to(root).parts
        package = parts[1] if len(parts) > 2 else "other internals" if len(parts) > 1 else "public"
        lines[package] += code_lines(path)
        files[package] += 1
    yield "| package | files | code lines |"
    yield "|---|---:|---:|"
    for package, count in lines.most_common():
        yield f"| {package} | {files[package]} | {count:,} |"
    yield f"| all | {files.total()} | {lines.total():,} |"
