"""Ways to break an archive or a column file: what is inside, and the container itself."""

from __future__ import annotations

import io
import random
import struct
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.campaign import mutations
from tests.campaign.mutations import Mutation
from tests.support.inspect_logs import entries_of

BOMB = 300 << 20


def _entries(raw: bytes) -> dict[str, bytes]:
    """Content of every entry, whatever it is packed with."""
    import tempfile

    with tempfile.NamedTemporaryFile() as file:
        file.write(raw)
        file.flush()
        return entries_of(Path(file.name))


def _packed(entries: list[tuple[zipfile.ZipInfo, bytes]]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for item, data in entries:
            item.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(item, data)
    return out.getvalue()


def _items(entries: dict[str, bytes]) -> list[tuple[zipfile.ZipInfo, bytes]]:
    return [(zipfile.ZipInfo(name), data) for name, data in entries.items()]


def entry(raw: bytes, rng: random.Random) -> bytes:
    """One entry has other content."""
    entries = _entries(raw)
    name = rng.choice(list(entries))
    kind = mutations.JSON if name.endswith(".json") else mutations.DELIMITED
    entries[name] = rng.choice(kind)(entries[name], rng)
    return _packed(_items(entries))


def names(raw: bytes, rng: random.Random) -> bytes:
    """An entry is missing, stands twice, or has a name that leads elsewhere."""
    items = _items(_entries(raw))
    place = rng.randrange(len(items))
    item, data = items[place]
    change = rng.randrange(6)
    if change == 0:
        del items[place]
    elif change == 1:
        items.append((zipfile.ZipInfo("other/" + item.filename), data))
    elif change == 2:
        target = rng.choice(
            (
                "../../escaped.json",
                "/tmp/escaped.json",
                "..",
                "a/../../b",
                "/",
                "C:\\escaped.json",
                "\\\\host\\share",
                "x" * 60_000,
                "\u202ejson.",
                ".",
                "samples/",
                "a//b",
            )
        )
        items[place] = (zipfile.ZipInfo(target), data)
    elif change == 3:
        link = zipfile.ZipInfo(rng.choice(("link.json", item.filename)))
        link.create_system, link.external_attr = 3, 0o120777 << 16
        items = [pair for pair in items if pair[0].filename != link.filename]
        items.append((link, b"/etc/passwd"))
    elif change == 4:
        items += [
            (zipfile.ZipInfo(f"samples/more{number}.json"), b"{}")
            for number in range(3000)
        ]
    else:
        rng.shuffle(items)
    return _packed(items)


def bomb(raw: bytes, rng: random.Random) -> bytes:
    """An entry, often one that is read, unpacks to hundreds of megabytes."""
    items = _items(_entries(raw))
    place = rng.randrange(len(items))
    filler = rng.choice((b"[", b" ", b"0", b'{"a":', b"\x00"))
    data = (filler * (BOMB // len(filler)))[:BOMB]
    items[place] = (zipfile.ZipInfo(items[place][0].filename), data)
    return _packed(items)


def directory(raw: bytes, rng: random.Random) -> bytes:
    """The directory lies: sizes, checksums, methods, flags, places that overlap,
    counts."""
    out = bytearray(raw)
    starts = _all(raw, b"PK\x01\x02")
    if not starts:
        return mutations.flip(raw, rng)
    start = rng.choice(starts)
    numbers = (0, 1, 0x7FFFFFFF, 0xFFFFFFFF, 0xFFFFFFFE, rng.randrange(1 << 20))
    place, width = rng.choice(
        ((8, 2), (10, 2), (16, 4), (20, 4), (24, 4), (28, 2), (30, 2), (42, 4))
    )
    if rng.random() < 0.25 and len(starts) > 1:  # two entries at one place
        other = rng.choice(starts)
        out[start + 42 : start + 46] = raw[other + 42 : other + 46]
    else:
        new = rng.choice(numbers) & (0xFFFF if width == 2 else 0xFFFFFFFF)
        struct.pack_into("<H" if width == 2 else "<I", out, start + place, new)
    if rng.random() < 0.2:
        end = raw.rfind(b"PK\x05\x06")
        struct.pack_into(
            "<H", out, end + rng.choice((8, 10)), rng.choice((0, 1, 0xFFFF))
        )
    return bytes(out)


def local(raw: bytes, rng: random.Random) -> bytes:
    """What stands before an entry's bytes differs from the directory."""
    out = bytearray(raw)
    starts = _all(raw, b"PK\x03\x04")
    start = rng.choice(starts)
    place = rng.choice((4, 6, 8, 14, 18, 22, 26, 28))
    struct.pack_into("<H", out, start + place, rng.choice((0, 1, 8, 93, 0xFFFF)))
    return bytes(out)


def _all(raw: bytes, signature: bytes) -> list[int]:
    found, at = [], raw.find(signature)
    while at >= 0:
        found.append(at)
        at = raw.find(signature, at + 4)
    return found


def columns(raw: bytes, rng: random.Random) -> bytes:
    """A column of a Parquet file is dropped, renamed, emptied, or of another type."""
    table = pq.read_table(pa.BufferReader(raw))
    place = rng.randrange(table.num_columns)
    name, column, n = table.column_names[place], table.column(place), table.num_rows
    change = rng.randrange(6)
    if change == 0:
        table = table.drop_columns([name])
    elif change == 1:
        table = table.rename_columns(
            [
                f"x{at}" if at == place else old
                for at, old in enumerate(table.column_names)
            ]
        )
    elif change == 2:
        table = table.set_column(place, name, pa.nulls(n, column.type))
    elif change == 3:
        strange = rng.choice(
            (
                float("nan"),
                float("inf"),
                "",
                "x" * 1000,
                b"\xff",
                2**63 - 1,
                [1],
                {"a": 1},
                None,
                True,
            )
        )
        table = table.set_column(place, name, pa.array([strange] * n))
    elif change == 4:
        table = pa.concat_tables([table, table])
    else:
        table = table.slice(0, rng.randrange(n + 1))
    out = pa.BufferOutputStream()
    pq.write_table(table, out)
    return out.getvalue().to_pybytes()


ZIP: tuple[Mutation, ...] = (
    *mutations.BYTES,
    *(entry,) * 6,
    *(names,) * 2,
    bomb,
    *(directory,) * 3,
    local,
)
PARQUET: tuple[Mutation, ...] = (*mutations.BYTES, *(columns,) * 4)


def mutations_for(path: Path, raw: bytes) -> tuple[Mutation, ...]:
    """What can be done to a file, by its first bytes and name."""
    if raw[:4] == b"PK\x03\x04":
        return ZIP
    if raw[:4] == b"PAR1":
        return PARQUET
    if raw[:2] == b"\x1f\x8b":
        inner = tuple(mutations.squeezed(item) for item in mutations.JSON)
        return (*mutations.BYTES, *inner, mutations.gzip_bomb)
    if path.suffix in (".csv", ".tsv"):
        return mutations.DELIMITED
    return mutations.JSON
