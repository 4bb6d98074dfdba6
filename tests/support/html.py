"""Pages of the report, read as a program reads them, and what a browser asked for."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any

#: Text that wants to run.
EVIL = (
    "<script>window.hurt=1</script><img src=http://127.0.0.1:9/x "
    "onerror=window.hurt=1>\"'&"
)


class Reader(HTMLParser):
    """Tags with attributes, and the text of every table cell, by the caption of its
    table."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.tables: list[list[list[str]]] = []
        self.open: list[str] | None = None
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in ("td", "th", "tr"):  # their end tags may be left out
            self.end_cell()
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        self.open = [] if tag in ("td", "th") else self.open

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th", "tr", "tbody", "table"):
            self.end_cell()

    def end_cell(self) -> None:
        """Add the cell that is open, if one is, to its row."""
        if self.open is not None:
            self.tables[-1][-1].append("".join(self.open).strip())
            self.open = None

    def handle_data(self, data: str) -> None:
        if self.open is not None:
            self.open.append(data)


def table(page: Reader, *names: str) -> list[dict[str, str]]:
    """Rows of the first table that has these columns."""
    head, *rows = next(found for found in page.tables if set(names) <= set(found[0]))
    return [dict(zip(head, row, strict=True)) for row in rows]


def requests(browser: Any) -> list[str]:
    """Addresses that the page asked for since last asked."""
    messages = [
        json.loads(entry["message"])["message"]
        for entry in browser.get_log("performance")
    ]
    return [
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    ]


def serious(page: Any, axe: str) -> list[tuple[str, str]]:
    """What axe-core finds serious on a page, which it looked at."""
    page.set_script_timeout(120)
    page.execute_script(axe)
    found = page.execute_async_script("const done = arguments[0]; axe.run().then(done)")
    assert len(found["passes"]) > 20
    return [
        (one["id"], one["nodes"][0]["html"][:200])
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]
