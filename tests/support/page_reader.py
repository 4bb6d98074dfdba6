"""A reader of the pages who waits as a browser does."""

from __future__ import annotations

import re
import time
from typing import Any

from starlette.testclient import TestClient

#: How often a page is asked for, and the seconds between.
_MOST_TRIES, _SECONDS = 600, 0.05
#: What a page says that asks again by itself.
_NOT_YET = re.compile("<main[^>]* data-again=")


class PageReader(TestClient):
    """Asks for a page that is not yet whole again until it is: however busy the machine
    is, a test then sees what a reader sees in the end."""

    def get(self, *address: Any, **options: Any) -> Any:
        """The answer; of a page, once all of it has been computed."""
        for _ in range(_MOST_TRIES):
            answer = super().get(*address, **options)
            if not _NOT_YET.search(answer.text):
                return answer
            time.sleep(_SECONDS)
        raise AssertionError(f"{address} was never whole")

    def whole(self, address: str) -> str:
        """The text of a page that is there."""
        answer = self.get(address)
        assert answer.status_code == 200, answer.text
        return str(answer.text)
