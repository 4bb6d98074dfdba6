"""YAML of strangers: texts as they stand, defined behaviour of what YAML 1.1 does
otherwise, bounds."""

from __future__ import annotations

from functools import reduce
from pathlib import Path

import pytest

from warehouse.errors import InputError
from warehouse.importers.common.yaml_text import read_yaml
from warehouse.importers.swe_bench.reports import metadata


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "metadata.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("model: no", {"model": "no"}),
        ("version: 1.10", {"version": "1.10"}),
        ("date: 2024-05-01", {"date": "2024-05-01"}),
        (
            "n: 1e3\nm: 0x1F\nt: 12:30:45\ny: yes\nz: ~",
            {"n": "1e3", "m": "0x1F", "t": "12:30:45", "y": "yes", "z": "~"},
        ),
        ("model: [a, 'b: c']  # two", {"model": ["a", "b: c"]}),
        ("model: {a: b}", {"model": {"a": "b"}}),
        ("no: 1\n1: 2", {"no": "1", "1": "2"}),
        ("text: |\n  name: x\n  - y\n", {"text": "name: x\n- y\n"}),
        (
            "base: &b {model: m}\nreal:\n  <<: *b\n  name: n",
            {"base": {"model": "m"}, "real": {"model": "m", "name": "n"}},
        ),
        (
            "base: &b {model: m}\nreal: {<<: *b, model: own}",
            {"base": {"model": "m"}, "real": {"model": "own"}},
        ),
        ("\ufeffname: é", {"name": "é"}),
        ("", None),
        (
            "site: https://x.org/a: it's b\nname: n",
            {"site": "https://x.org/a: it's b", "name": "n"},
        ),
        ("[" * 50 + "]" * 50, reduce(lambda inner, _: [inner], range(49), [])),
    ],
)
def test_scalars_are_the_texts_that_stand_there(
    tmp_path: Path, text: str, value: object
) -> None:
    assert read_yaml(written(tmp_path, text)) == value


BOMB = "a: &a [x, x]\n" + "".join(
    f"{b}: &{b} [*{a}, *{a}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)
MERGES = "a: &a {x: y}\n" + "".join(
    f"{b}: &{b} {{<<: [*{a}, *{a}]}}\n"
    for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("name: a\nname: b", "line 2: the key 'name' stands twice"),
        ("name: a\n\tmodel: b", "line 2"),
        ("- a: b: c\n  'd': e: f", "line 2"),
        ("day: !!timestamp x", "could not determine a constructor"),
        ("names: !!set {a, b}", "could not determine a constructor"),
        (
            "name: !!python/object/apply:os.system ['true']",
            "could not determine a constructor",
        ),
        ("name: !thing x", "could not determine a constructor"),
        (BOMB, "within what is repeated itself"),
        (MERGES, "within what is repeated itself"),
        ("a: &a [*a]", "within what is repeated itself"),
        ("a: &a x\nb: [" + ", ".join(["*a"] * 101) + "]", "more than 100"),
        ("[" * 51, "more than 50"),
        ("[" * 100_000, "line 1"),
        ("a: *b", "undefined alias"),
        ("a: 1\n---\nb: 2", "another document"),
        (b"name: \xff", "UTF-8"),
        ("name: \x00", "cannot be read"),
        ("? [a]\n: b", "unhashable"),
        ("x" * 1_000_001, "1,000,001 bytes"),
    ],
)
def test_what_is_no_plain_yaml_is_refused_with_its_line(
    tmp_path: Path, text: str | bytes, part: str
) -> None:
    with pytest.raises(InputError, match="metadata.yaml") as caught:
        read_yaml(written(tmp_path, text))
    assert part in str(caught.value)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("model: [a, b]", (None, ["a", "b"])),
        ("name: N\nmodel:\n- a\n- b", ("N", ["a", "b"])),
        (
            "info:\n"
            "  name: N\n"
            "  authors:\n"
            "  - name: P\n"
            "tags:\n"
            "  model: ['a']\n"
            "  checked: false",
            ("N", ["a"]),
        ),
        ("name: 'It''s'  # said\nmodel: \"a\"", ("It's", ["a"])),
        ("name:\nmodel: ~", (None, [])),
        ("- name: x", (None, [])),
        ("", (None, [])),
    ],
)
def test_name_and_models_of_a_submission(
    tmp_path: Path, text: str, found: tuple[str | None, list[str]]
) -> None:
    said, *name_and_models = metadata(written(tmp_path, text))
    assert tuple(name_and_models) == found and isinstance(said, dict)


def test_models_that_are_no_texts_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected a text, or a list of texts"):
        metadata(written(tmp_path, "model: [{a: b}]"))
