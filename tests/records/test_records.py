"""JSON as dumps hold it: what is read, what is refused."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warehouse.records import content_key, parse_json
from warehouse.records.dump import too_large


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**63), 2**64 - 1)
        | st.text()
        | st.floats(allow_nan=False, allow_infinity=False),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    )
)
def test_what_the_standard_library_writes_is_read(value: object) -> None:
    assert parse_json(json.dumps(value, ensure_ascii=False)) == value


@pytest.mark.parametrize(
    "text",
    [
        "18446744073709551616",
        "[-9223372036854775809]",
        '{"a": [0.5, 123456789012345678901234]}',
        '["x.1", 99999999999999999999]',
        '["12345678901234567890\\\\", "\\" 12345678901234567890 \\"", '
        "-12345678901234567890]",
    ],
)
def test_integers_beyond_64_bits_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="integer beyond 64 bits"):
        parse_json(text)


def test_digits_in_a_text_do_not_make_it_slow_to_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(json, "loads", None)  # takes several times as long
    texts = [
        "0" * 22,
        "what is 17623745623847562384 and 1?",
        '", 12345678901234567890, "',
        "\\",
        '\\" 12345678901234567890',
    ]
    assert parse_json(json.dumps({"id": texts})) == {"id": texts}


def test_many_digits_after_a_point_are_a_number() -> None:
    assert parse_json("[0.00012345678901234567, 1.0000000000000000000000001]") == [
        0.00012345678901234567,
        1.0,
    ]
    assert parse_json("[0." + "1" * 100_000 + "]") == [pytest.approx(1 / 9)]


def test_nesting_beyond_reading_is_refused() -> None:
    with pytest.raises(ValueError, match="too deep"):
        parse_json("[" * 100_000 + "]" * 100_000)


@pytest.mark.parametrize("depth", [300, 1000, 1100, 100_000])
def test_a_key_needs_a_canonical_form(depth: int) -> None:
    with pytest.raises(ValueError, match="too deep"):
        content_key("[" * depth + "]" * depth)


@settings(deadline=None)  # the first array imports pandas
@given(
    number=st.integers(-(1 << 70), 1 << 70),
    kind=st.sampled_from([pa.int32(), pa.int64()]),
)
def test_a_number_is_too_large_where_arrow_says_so(
    number: int, kind: pa.DataType
) -> None:
    try:
        pa.array([number], kind)
    except (OverflowError, pa.ArrowInvalid):
        fits = False
    else:
        fits = True
    nested = pa.list_(pa.struct([("n", kind), ("text", pa.string())]))
    for value, said in ((number, kind), ([{"text": "x"}, {"n": number}], nested)):
        assert too_large(value, said) == (None if fits else number)


@pytest.mark.parametrize("bits", [32, 64])
def test_the_ends_of_a_column_fit(bits: int) -> None:
    kind, bound = {32: pa.int32(), 64: pa.int64()}[bits], 1 << (bits - 1)
    assert [too_large(n, kind) for n in (-bound, bound - 1)] == [None, None]
    assert [too_large(n, kind) for n in (-bound - 1, bound)] == [-bound - 1, bound]
