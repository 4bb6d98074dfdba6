"""Hashes that stored keys depend on: written down, because a store of yesterday has
them."""

from __future__ import annotations

import math

from warehouse.records.canonical_json import (
    canonical_digest,
    content_key,
    fingerprint,
    short_digest,
)


def test_keys_of_content_and_settings_stay() -> None:
    canonical = "91ff63a7ddb19a1b9c7a2e722d40ba9baba03223f291c89743abfd71bb743cb5"
    assert canonical_digest({"b": [1, 2.5, None], "a": "ü"}) == canonical
    assert content_key('{ "a": "ü", "b": [1, 2.5, NaN] }') == canonical


def test_digests_of_inputs_stay() -> None:
    assert (
        short_digest([1, "ü\ud800", {"b": None, "a": math.nan}], "x")
        == "49489af8d6b10e6c7d2e2709f8d7e848"
    )


def test_fingerprints_stay_and_tell_where_a_part_ends() -> None:
    assert (
        fingerprint("ab", b"c")
        == "601d5476e2ccfe2c87a2bba7a322659734a05749d5b5aa781f513e4912db0d5f"
    )
    assert fingerprint("a", b"bc") != fingerprint("ab", b"c")
