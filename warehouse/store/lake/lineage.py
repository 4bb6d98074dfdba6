"""Whether a lake was made from a store: ids are one store's own, and mean nothing in another."""

from __future__ import annotations

from warehouse.errors import MisuseError, StoreError
from warehouse.store.connection import Store
from warehouse.store.lake.contents import schema_of
from warehouse.store.lake.location import LakeLocation
from warehouse.store.lake.reading import whole
from warehouse.store.lake.versions import LakeVersion

#: What a source that is loaded keeps for good.
_FIXED = ("id", "sha256", "settings_key", "claimed_at")


def require_same_store(store: Store, lake: LakeLocation, version: LakeVersion) -> None:
    """Refuse to bring a lake up from a store that it was not made from, or from an older copy of it.

    Raises:
        MisuseError: a source of the lake has another number in the store, or none of them is there.
        StoreError: the lake has a source that the store has never had.
    """
    ours, theirs = _sources(store), _sources_of(lake, version)
    if not theirs:
        return
    counted = store.arrow("select next_id from id_counter where table_name = 'source'").column(0).to_pylist()
    ahead = sorted(number for number in theirs if number not in ours and number >= (counted[0] if counted else 1))
    other = any(ours[number] != known for number, known in theirs.items() if number in ours)
    if other or not (ours.keys() & theirs.keys() or ahead or not ours):
        raise MisuseError(
            f"the lake {lake} was made from another store than {store.name}; choose another place, or replace what it"
            f" holds: warehouse lake sync {lake} --anew"
        )
    if ahead:
        raise StoreError(
            f"the lake {lake} holds source {ahead[0]}, which {store.name} has never had: the store is older than the"
            f" lake; sync from the newer store, or take the lake back: warehouse lake sync {lake} --anew"
        )


def _sources(store: Store) -> dict[int, tuple[object, ...]]:
    return _loaded(whole(store, "source").to_pylist())


def _sources_of(lake: LakeLocation, version: LakeVersion) -> dict[int, tuple[object, ...]]:
    if "source" not in version.tables:
        return {}
    table = lake.require("source", version.tables["source"].version)
    with lake.speaking("source"):
        rows = table.to_pyarrow_dataset().to_table(columns=schema_of("source").names)
    return _loaded(rows.to_pylist())


def _loaded(rows: list[dict[str, object]]) -> dict[int, tuple[object, ...]]:
    return {int(str(row["id"])): tuple(row[name] for name in _FIXED) for row in rows if row["state"] == "loaded"}
