"""The store as a lake: Delta tables that engines beyond this machine read."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from warehouse.api.connection import Connection

if TYPE_CHECKING:
    from warehouse.store.lake.check import LakeCheck
    from warehouse.store.lake.sync import SyncReport
    from warehouse.store.lake.versions import LakeVersion, VacuumReport


class LakeMethods(Connection):
    """What is done with lakes; :func:`warehouse.connect` with ``sail:?lake=…`` asks one."""

    def lake_sync(self, location: str, *, anew: bool = False) -> SyncReport:
        """Bring a lake up to what the store holds, in one version.

        Args:
            location: a folder, or a URL that the package ``deltalake`` takes (``s3://…``).
            anew: write every table as a whole: after damage, or from another store.

        Raises:
            MisuseError: the place holds something else, the lake was made from another store, or the
                extra ``lake`` is not installed.
            StoreError: the store is older than the lake, or the lake cannot be read or written.
        """
        from warehouse.store.lake.sync import sync

        with self.reading() as store:
            return sync(store, location, anew=anew)

    def lake_check(self, location: str) -> LakeCheck:
        """Hold all rows of a lake's newest version against those of the store.

        Args:
            location: of the lake.

        Raises:
            MisuseError: the lake was made from another store.
            StoreError: there is no lake, or it cannot be read.
        """
        from warehouse.store.lake.check import check

        with self.reading() as store:
            return check(store, location)

    def lake_versions(self, location: str) -> list[LakeVersion]:
        """The versions of a lake that can be asked, newest first.

        Args:
            location: of the lake.

        Raises:
            StoreError: there is no lake, or it cannot be read.
        """
        from warehouse.store.lake.location import LakeLocation
        from warehouse.store.lake.versions import history

        return history(LakeLocation(location))

    def lake_vacuum(self, location: str, *, older_than: timedelta = timedelta(days=7)) -> VacuumReport:
        """Remove old versions of a lake, but never the newest, and join small files.

        Args:
            location: of the lake.
            older_than: versions go that were replaced longer ago.

        Raises:
            MisuseError: a negative age.
            StoreError: there is no lake, it cannot be read or written, or a sync is under way.
        """
        from warehouse.store.lake.versions import vacuum

        return vacuum(location, older_than=older_than)
