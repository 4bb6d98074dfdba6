"""Changes of a dump's files: what no tool writes, and what says the same in another
order."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Change = Callable[[str], str]

#: Nesting that no reader should follow.
_DEEP = "[" * 3000 + "]" * 3000


def files_of(dump: Path) -> list[Path]:
    """The files of a dump: those below its folder, or the file that it is."""
    if dump.is_file():
        return [dump]
    return sorted(path for path in dump.rglob("*") if path.is_file())


def each_line(change: Callable[[int, str], str]) -> Change:
    """A change of a text that is one of its lines, which are told with their numbers."""
    return lambda text: "".join(
        f"{change(number, line)}\n" for number, line in enumerate(text.splitlines())
    )


def reversed_keys(value: Any) -> Any:
    """A JSON value with the keys of each object in the other order."""
    if isinstance(value, dict):
        return {key: reversed_keys(value[key]) for key in reversed(value)}
    if isinstance(value, list):
        return [reversed_keys(item) for item in value]
    return value


def flat(value: Any, depth: int = 0) -> Any:
    """A JSON value with a number in place of each object within another."""
    if isinstance(value, dict):
        if depth:
            return 5
        return {key: flat(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [flat(item, depth) for item in value]
    return value


def deepened(text: str) -> str:
    """An object with a member that is nested beyond all measure."""
    end = text.rstrip()
    if end.endswith("}"):
        return f'{end[:-1]},"zz_deep":{_DEEP}}}'
    return text


def parsed(change: Callable[[Any], Any]) -> Change:
    """A change of a JSON value as one of its text."""
    return lambda text: json.dumps(change(json.loads(text)))


def _of_each(change: Change) -> Change:
    return each_line(lambda _, line: change(line) if line.strip() else line)


#: What no tool writes, as changes of a file of JSON lines and of a document; None: it
#: stays.
BROKEN: dict[str, tuple[Change | None, Change | None]] = {
    "a number for a line": (
        each_line(lambda number, line: "3" if number == 1 else line),
        None,
    ),
    "null before": (lambda text: f"null\n{text}", None),
    "texts for lines": (each_line(lambda _, line: '"x"'), None),
    "a list for a line": (
        each_line(lambda number, line: "[1]" if number == 1 else line),
        None,
    ),
    "a number": (lambda _: "3", lambda _: "3"),
    "a list": (lambda _: "[3]\n", lambda _: "[3]"),
    "nothing": (lambda _: "", lambda _: ""),
    "keys in another order": (_of_each(parsed(reversed_keys)), parsed(reversed_keys)),
    "numbers for objects": (_of_each(parsed(flat)), parsed(flat)),
    "nested too deep": (
        each_line(lambda number, line: deepened(line) if number == 1 else line),
        deepened,
    ),
}


def change_json(dump: Path, what: str) -> int:
    """Change the JSON files of a dump in one of the ways of :data:`BROKEN`; gives how
    many were changed."""
    of_lines, of_document = BROKEN[what]
    changes = {".jsonl": of_lines, ".json": of_document}
    count = 0
    for path in files_of(dump):
        change = changes.get(path.suffix)
        if change is None:
            continue
        try:
            path.write_text(change(path.read_text()))
        except ValueError:  # a file that is no JSON to begin with
            continue
        count += 1
    return count


def damages(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Bytes of a file as they come out of broken disks and transfers, each with its
    name."""
    size = len(content)
    for name, end in (
        ("a third", size // 3),
        ("two thirds", 2 * size // 3),
        ("all but its last bytes", size - 2),
    ):
        yield f"cut to {name}", content[: max(end, 0)]
    yield "empty", b""
    yield (
        "zeros in its middle",
        content[: size // 2] + bytes(min(64, size)) + content[size // 2 + 64 :],
    )
    numbers = random.Random(size)
    changed = bytearray(content)
    for _ in range(min(20, size)):
        changed[numbers.randrange(size)] = numbers.randrange(256)
    yield "with twenty other bytes", bytes(changed)


def lines_in_another_order(dump: Path) -> int:
    """Turn the lines of each file of JSON lines of a dump round; gives how many files
    were changed."""
    count = 0
    for path in files_of(dump):
        if path.suffix != ".jsonl":
            continue
        lines = path.read_text().splitlines()
        path.write_text("".join(f"{line}\n" for line in reversed(lines)))
        count += len(lines) > 1
    return count
