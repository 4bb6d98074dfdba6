"""Reading Inspect logs in tests, and taking them apart to damage them."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import zstandard

from tests.support import lm_eval
from tests.support.lm_eval import Row, Taken
from warehouse.importers.inspect.importer import IMPORTER

FIXTURES = Path(__file__).parents[1] / "data" / "inspect"

Entries = dict[str, bytes]


def take(*paths: Path, **values: Any) -> Taken:
    """The one log that some paths hold."""
    return lm_eval.take(*paths, importer=IMPORTER, **values)


def by_draw(taken: Taken) -> dict[tuple[str, int], Row]:
    """Rows of single draws by prompt and draw."""
    return {
        (row["prompt_id"], row["draw"]): row for row in taken.rows if row["draw"] >= 0
    }


def scores_by(row: Row) -> dict[tuple[str, str], dict[str, Any]]:
    """Scores of a row by metric and filter."""
    return {(score["metric"], score["filter"]): score for score in row["scores"]}


def entries_of(path: Path) -> Entries:
    """Content of every entry, read without our code."""
    raw = path.read_bytes()
    found = {}
    with zipfile.ZipFile(path) as archive:
        for item in archive.infolist():
            name, extra = struct.unpack("<HH", raw[item.header_offset + 26 :][:4])
            start = item.header_offset + 30 + name + extra
            packed = raw[start : start + item.compress_size]
            if item.compress_type == 93:
                reader = zstandard.ZstdDecompressor().stream_reader(
                    packed, read_across_frames=True
                )
                found[item.filename] = reader.read()
            else:
                found[item.filename] = zlib.decompress(packed, -15)
    return found


def write_deflated(path: Path, entries: Entries | list[tuple[str, bytes]]) -> Path:
    """An archive as Inspect wrote it up to 0.3.205; a list may name an entry twice."""
    pairs = entries.items() if isinstance(entries, dict) else entries
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in pairs:
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return path


def write_packed(path: Path, entries: dict[str, tuple[int, bytes, bytes]]) -> Path:
    """An archive of entries that are packed already: method, packed bytes, content."""
    out, directory = io.BytesIO(), []
    for name, (method, packed, data) in entries.items():
        title = name.encode()
        sizes = struct.pack("<III", zlib.crc32(data), len(packed), len(data))
        fixed = struct.pack("<HHHHH", 20, 0, method, 0, 33) + sizes
        lengths = struct.pack("<HH", len(title), 0)
        directory.append(
            b"PK\x01\x02"
            + struct.pack("<H", 20)
            + fixed
            + lengths
            + struct.pack("<HHHII", 0, 0, 0, 0, out.tell())
            + title
        )
        out.write(b"PK\x03\x04" + fixed + lengths + title + packed)
    start, table = out.tell(), b"".join(directory)
    out.write(
        table
        + b"PK\x05\x06"
        + struct.pack(
            "<HHHHIIH", 0, 0, len(directory), len(directory), len(table), start, 0
        )
    )
    path.write_bytes(out.getvalue())
    return path


def as_first_asked(retry: Path, target: Path) -> Path:
    """A retry as the tool writes it, which asks with the arguments of the first try:
    the fixture's was given another one, so that nothing failed any more."""
    entries = {
        name: data.replace(b'"nobody"', b'"bad"')
        for name, data in entries_of(retry).items()
    }
    return write_deflated(target, entries)


def edited(entries: Entries, name: str, **changes: Any) -> Entries:
    """Entries with some keys of one changed; ``None`` takes a key out."""
    document = json.loads(entries[name])
    for key, value in changes.items():
        document.pop(key, None)
        if value is not None:
            document[key] = value
    return {**entries, name: json.dumps(document).encode()}
