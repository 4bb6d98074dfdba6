"""The application: addresses to views, views to pages, each in a thread of few and with
a limit of time."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from warehouse.errors import MisuseError, QueryLimitError, WarehouseError
from warehouse.records.credentials import masked
from warehouse.refresh.alerts import Rules
from warehouse.serve.answers import LARGE_ROOM, Answers
from warehouse.serve.benchmark import benchmark
from warehouse.serve.compare import compare, hypothesis
from warehouse.serve.following import READERS, FollowedStore
from warehouse.serve.grep import grep
from warehouse.serve.health import health
from warehouse.serve.heat_data import HeatData
from warehouse.serve.overview import overview
from warehouse.serve.page import (
    Download,
    Missing,
    Page,
    PageRequest,
    Renderer,
    Site,
    asset_text,
)
from warehouse.serve.sample import sample, text
from warehouse.serve.security import Access, Guarded

View = Callable[[Site, PageRequest], Page | Download]
#: Address -> view. A view gets what was asked, and may raise any error of ours.
VIEWS: dict[str, View] = {
    "/": overview,
    "/benchmark/{name:path}": benchmark,
    "/compare": compare,
    "/hypothesis.json": hypothesis,
    "/sample": sample,
    "/text": text,
    "/grep": grep,
    "/health": health,
}
#: Files that pages load -> their types.
ASSETS = {"style.css": "text/css", "script.js": "text/javascript"}
HTML, JSON = "text/html; charset=utf-8", "application/json"
#: Seconds between two looks at whether what a program, or a file, waits for is there.
WAIT = 0.05
#: Seconds that a page may take longer than its queries may.
GRACE = 2.0

_LOG = logging.getLogger(__name__)


class Pages:
    """Answers requests with pages of one store."""

    def __init__(self, store: FollowedStore, seconds: float, rules: Rules) -> None:
        answers = Answers(store)
        self.site = Site(
            store, answers, HeatData(answers), Answers(store, LARGE_ROOM), rules
        )
        self.site.heat.facts(0)  # begins to be read before anybody asks
        self._renderer, self._seconds = Renderer(), seconds
        self._threads = ThreadPoolExecutor(READERS, thread_name_prefix="warehouse-page")

    def close(self) -> None:
        """Take no more requests; those that are answered end with their queries."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def endpoint(self, view: View) -> Callable[[Request], Any]:
        """A view as Starlette calls it."""

        async def answer(request: Request) -> Response:
            page_request = PageRequest(
                request.path_params, parse_qsl(request.url.query), request.scope["path"]
            )
            make, loop = (
                partial(self._answer, view, page_request),
                asyncio.get_running_loop(),
            )
            end = time.monotonic() + self._seconds
            try:
                while True:
                    work = loop.run_in_executor(self._threads, make)
                    answered = await asyncio.wait_for(work, self._seconds + GRACE)
                    if answered is not None:
                        return answered
                    if time.monotonic() > end:
                        return self.plain(
                            503, "This is still being computed; ask again in a moment."
                        )
                    await asyncio.sleep(
                        WAIT
                    )  # here and not in a thread, of which there are few
            except TimeoutError:
                return self.plain(
                    503,
                    f"This took longer than {self._seconds:g} seconds. Ask for less, "
                    "or try again.",
                )

        return answer

    def _answer(self, view: View, page_request: PageRequest) -> Response | None:
        """The page; None for a program, or a file, that is to have it whole, while it
        is being computed."""
        try:
            page = view(self.site, page_request)
            is_json, is_file = (
                page_request.value("format") == "json",
                bool(page_request.value("export")),
            )
            if (
                isinstance(page, Page)
                and page.again
                and (page.answer is None if is_json else is_file)
            ):
                return None
            if isinstance(page, Download):
                return Response(
                    page.content, headers=page.headers, media_type=page.kind
                )
            if is_json:
                return Response(page.json(), page.status, media_type=JSON)
            return self._as_html(page, page_request)
        except Missing as error:
            return self.plain(404, str(error))
        except QueryLimitError:
            return self.plain(
                503,
                "This is more than a page reads; the command that the view names reads "
                "all of it.",
            )
        except MisuseError as error:
            return self.plain(400, str(error))
        except WarehouseError as error:
            return self.plain(503, str(error))
        except Exception:
            _LOG.exception("a page failed")
            return self.plain(
                500, "This page could not be made; the log of the server says why."
            )

    def _as_html(self, page: Page, page_request: PageRequest) -> Response:
        if page_request.value("export") != "html":
            return Response(
                self._renderer.page(page, self.site, page_request),
                page.status,
                media_type=HTML,
            )
        name = (
            re.sub(r"[^\w.-]+", "-", page.title, flags=re.ASCII).strip("-.") or "page"
        )
        text = self._renderer.page(page, self.site, page_request, alone=True)
        return Response(
            text,
            headers={"content-disposition": f'attachment; filename="{name}.html"'},
            media_type=HTML,
        )

    def plain(self, status: int, words: str) -> Response:
        """A page that says what is wrong, or why somebody is not let in."""
        more = {401: {"www-authenticate": "Bearer"}, 405: {"allow": "GET, HEAD"}}.get(
            status
        )
        return Response(self._renderer.error(status, masked(words)), status, more, HTML)

    async def failed(self, _request: Request, error: Exception) -> Response:
        """A page for what Starlette refuses."""
        status = 500
        if isinstance(error, HTTPException):
            status = error.status_code
        words = "This cannot be answered."
        if status == 404:
            words = "There is no such page."
        return self.plain(status, words)


class Served(Guarded):
    """The application over a store, for any ASGI server.

    Attributes:
        store: what is asked.
        proxy: address of the proxy that people come through; empty: there is none.
    """

    def __init__(
        self, store: FollowedStore, access: Access, seconds: float, rules: Rules
    ) -> None:
        self.store, self.proxy = store, access.proxy
        self._pages = Pages(store, seconds, rules)

        @asynccontextmanager
        async def lifespan(_app: Starlette) -> AsyncIterator[None]:
            try:
                yield
            finally:
                store.close()
                self._pages.close()

        pages = [
            Route(path, self._pages.endpoint(view), methods=["GET"])
            for path, view in VIEWS.items()
        ]
        assets = [
            Route(f"/static/{name}", _asset(name, kind), methods=["GET"])
            for name, kind in ASSETS.items()
        ]
        icon = Route("/favicon.ico", _no_icon, methods=["GET"])
        app = Starlette(
            routes=[*assets, icon, *pages],
            exception_handlers={HTTPException: self._pages.failed},
            lifespan=lifespan,
        )
        super().__init__(app, access, self._pages.plain)


def create_app(
    url: str | None = None,
    *,
    access: Access | None = None,
    seconds: float = 30.0,
    wait: float = 10.0,
    rules: Rules | None = None,
) -> Served:
    """The application over a store.

    Args:
        url: of the store, as `warehouse.connect` takes it.
        access: who may ask; default: this machine.
        seconds: that a page's queries may take.
        wait: seconds to wait at the start for a store that another process holds.
        rules: of the alerts of a refresh; default: all that need no number.

    Raises:
        StoreError: the store cannot be opened.
    """
    return Served(
        FollowedStore(url, seconds=seconds, wait=wait),
        access or Access(),
        seconds,
        rules or Rules(),
    )


def _asset(name: str, kind: str) -> Callable[[Request], Any]:
    text = asset_text(name)

    async def answer(_request: Request) -> Response:
        return Response(text, headers={"cache-control": "no-cache"}, media_type=kind)

    return answer


async def _no_icon(_request: Request) -> Response:
    """What a browser asks for beside an answer that is no page, such as JSON, which
    cannot say that it has none."""
    return Response(status_code=204, headers={"cache-control": "max-age=86400"})
