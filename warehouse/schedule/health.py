"""The health file: what the process is doing, for a monitor that looks at its age."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from warehouse.errors import WarehouseError
from warehouse.files.output_file import HEALTH, UNATTENDED, write_output
from warehouse.schedule.log import Log, stamp


class Health:
    """A JSON file that is replaced as a whole; a path of None writes nothing.

    Its keys: ``state`` (``waiting``, ``running``, ``stopping``, ``stopped``), ``updated`` (renewed
    while the process lives), ``program``, ``started``, ``pid``, ``version``, ``cron``, ``timezone``,
    ``next_run``, ``running_since``, ``last`` (``start``, ``end``, ``result``, ``exit_code``,
    ``due`` and what the job counted). All times are UTC.

    Raises:
        MisuseError: it cannot be written there.
        DiskFullError: there is no room.
    """

    def __init__(self, path: Path | None, log: Log, clock: Callable[[], datetime], **known: Any) -> None:
        self.path, self.log, self.clock = path, log, clock
        self.content: dict[str, Any] = {
            "program": "eval-warehouse schedule",
            "state": "waiting",
            "updated": "",
            "started": stamp(clock()),
            "pid": os.getpid(),
            "version": version("eval-warehouse"),
            **known,
            "next_run": None,
            "running_since": None,
            "last": None,
        }
        self._failed = False
        self._write()

    def tell(self, **changed: Any) -> None:
        """Renew the file; one that cannot be written any more is an event, once."""
        self.content.update(changed)
        try:
            self._write()
            self._failed = False
        except WarehouseError as error:
            if not self._failed:
                self.log.write("health_not_written", "error", error=str(error))
            self._failed = True

    def _write(self) -> None:
        if self.path is None:
            return
        self.content["updated"] = stamp(self.clock())
        text = f"{json.dumps(self.content, indent=2, default=str)}\n"
        write_output(self.path, text.encode(), HEALTH, advice=UNATTENDED)
