"""A page: what its address says, what is shown, how it was made; and templates that
make HTML of it."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from warehouse.analysis.results import Result, plain
from warehouse.charts.page_parts import figures, notes
from warehouse.errors import MisuseError, WarehouseError, did_you_mean
from warehouse.questions.question import FieldOption, Options, Question, options
from warehouse.records.canonical_json import json_text, records_as_json
from warehouse.refresh.alerts import Rules
from warehouse.report.board import in_words
from warehouse.serve.answers import Answers
from warehouse.serve.differences import shortened
from warehouse.serve.following import FollowedStore
from warehouse.serve.heat_data import HeatData
from warehouse.store.sql.query_files import query_text
from warehouse.tables.page import broken, unbroken
from warehouse.tables.words import DIRECTIONS

#: Pages that every page leads to, in the order of questions: address, name.
NAVIGATION = (
    ("/", "Which model is best?"),
    ("/compare", "Compare"),
    ("/health", "Data health"),
)
#: Parameters of an address that choose its form or let in, and are no part of a view's
#: state.
FORMS = ("format", "export", "token", "seen")
#: What a query is called: figures of pages pool the runs of a row.
_SQL = "SQL, run by run"
_LINK = re.compile(r' (?:href|action)="/[^"]*"')


#: Templates of these pages.
_SERVED = sorted(
    template.name
    for template in files("warehouse.serve").iterdir()
    if template.name.endswith(".j2")
)

T = TypeVar("T", bound=Options)


class Missing(WarehouseError):
    """There is nothing of the name in the address."""


@dataclass(frozen=True)
class Site:
    """What views have."""

    store: FollowedStore  #: what is asked.
    answers: Answers  #: to what was asked of it.
    heat: HeatData  #: of the table of all models.
    large: Answers  #: answers with the scores of every prompt, few of which are kept.
    rules: Rules  #: what raises an alert.

    @property
    def benchmarks(self) -> list[dict[str, Any]]:
        """All that the store names."""
        return self.answers.once(
            "benchmarks", lambda store: store.rows(query_text("store", "benchmarks"))
        )


@dataclass(frozen=True)
class PageRequest:
    """What an address asks for: all state of a view."""

    path: Mapping[str, str]  #: parts of the path, by name.
    #: names and values, in order; a name may stand several times.
    query: Sequence[tuple[str, str]]
    address: str = "/"  #: the path itself.

    def value(self, name: str, default: str = "") -> str:
        """The first value of a name."""
        return next((value for own, value in self.query if own == name), default)

    def values(self, name: str) -> list[str]:
        """All values of a name."""
        return [value for own, value in self.query if own == name]

    def number(self, name: str, default: int = 0, most: int = 10**9) -> int:
        """A whole number from 0 on.

        Raises:
            MisuseError: something else stands there.
        """
        text = self.value(name)
        if not text:
            return default
        if not (text.isascii() and text.isdigit() and len(text) < 12):
            raise MisuseError(
                f"{name} is a whole number from 0 on; found {text[:40]!r}"
            )
        return min(int(text), most)

    def url(
        self, address: str = "", **changes: str | int | None | Sequence[str]
    ) -> str:
        """The address of the same view, or of another, with changes; None takes a name
        out."""
        kept = [
            (name, value)
            for name, value in self.query
            if name not in changes and name not in FORMS
        ]
        for name, value in changes.items():
            several = [value] if isinstance(value, str | int) else value or ()
            kept += [(name, str(item)) for item in several]
        path = address or quote(self.address)
        if kept:
            path += f"?{urlencode(kept)}"
        return path


def link(*parts: str, **query: str | int | Sequence[str]) -> str:
    """The address of another view: parts of a path, each escaped, and what stands after
    the question mark.

    A last part that a browser takes for a folder stands there too, as ``name``.
    """
    if parts[-1] in (".", ".."):
        parts, query = (*parts[:-1], ""), {"name": parts[-1], **query}
    path = "/" + "/".join(quote(part, safe="") for part in parts)
    if query:
        path += f"?{urlencode(query, doseq=True)}"
    return path


def checked_name(kind: str, name: str, names: Iterable[str]) -> str:
    """A name of an address, if the store has it.

    Args:
        kind: of what it is, such as ``benchmark``.
        names: that there are.

    Raises:
        Missing: names what was perhaps meant.
    """
    there = [*names]
    if name not in there:
        shown = name.replace("\x00", "\N{REPLACEMENT CHARACTER}")[:100]
        raise Missing(
            f"no {kind} {shown!r}; "
            f"{did_you_mean(name[:100], there, 'the first page lists all')}"
        )
    return name


def question_from(kind: type[T], request: PageRequest, names: Sequence[str] = ()) -> T:
    """Make a question or a filter of what an address asks for.

    Args:
        kind: its class.
        names: fields that an address may say; none for all.

    Raises:
        MisuseError: a value that is none of the field, or a field that is required and
            missing.
        StatisticsError: a number out of range.
    """
    fields = options(kind)
    given = {
        name: _read(name, fields[name], request)
        for name in names or fields
        if request.value(name)
    }
    missing = [
        name
        for name, option in fields.items()
        if option.default is option.empty and name not in given
    ]
    if missing:
        raise MisuseError(f"the address does not say {' and '.join(missing)}")
    return kind(**given)


def _read(name: str, option: FieldOption, request: PageRequest) -> Any:
    if option.is_list:
        return [value for value in request.values(name) if value]
    text = request.value(name)
    if option.type is bool:
        return text not in ("0", "no", "false")
    if option.type not in (int, float):
        return text
    try:
        return option.type(text)
    except ValueError:
        raise MisuseError(f"{name} is a number; found {text[:40]!r}") from None


@dataclass(frozen=True)
class Page:
    """A view, ready to be shown."""

    template: str  #: its file.
    title: str  #: of the page.
    shown: Mapping[str, Any]  #: what the template is given, by name.
    answer: Any  #: what ``?format=json`` gives: of a result what ``--json`` gives, else a value as it is.
    questions: Sequence[Question] = ()  #: that were asked, for *how was this made*.
    sql: str = ""  #: a query that gives what is nearest.
    again: int = 0  #: seconds after which the page is not yet whole and asks again; 0: it is whole.
    status: int = 200  #: of the answer.

    def json(self) -> str:
        """The answer as JSON, for programs."""
        if isinstance(self.answer, Result):
            return records_as_json(self.answer.kind_of(), self.answer.rows)
        return json_text(plain(self.answer)) + "\n"

    def made(self, store: str) -> list[tuple[str, str]]:
        """How it was made: a language and a text that can be pasted.

        Args:
            store: its address without secrets.
        """
        commands = []
        for question in self.questions:
            commands.append(("Command", question.command("--db", store)))
        calls = [("Python", question.python()) for question in self.questions]
        return [*commands, *calls, *([(_SQL, self.sql)] if self.sql else [])]


@dataclass(frozen=True)
class Download:
    """A text that a browser keeps as a file, and never shows."""

    name: str  #: of the file.
    content: str  #: the text.
    kind: str  #: its type.

    @property
    def headers(self) -> dict[str, str]:
        """Headers that make a browser save it as a file."""
        return {"content-disposition": f'attachment; filename="{self.name}"'}


class Renderer:
    """Makes HTML of pages. All text of dumps is escaped."""

    def __init__(self) -> None:
        self._environment = Environment(
            autoescape=True,
            undefined=StrictUndefined,
            finalize=lambda value: "" if value is None else value,
            loader=FunctionLoader(_template),
            auto_reload=False,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters |= {
            "in_words": in_words,
            "unbroken": unbroken,
            "broken": broken,
            "shortened": shortened,
        }
        self._environment.globals |= {
            "direction": DIRECTIONS,
            "figures": figures,
            "notes": notes,
            "link": link,
            "navigation": NAVIGATION,
            "version": version("eval-warehouse"),
        }

        for name in (
            *_SERVED,
            "heat.html.j2",
        ):  # compiling one takes longer than a reader waits
            self._environment.get_template(name)

    def page(
        self, page: Page, site: Site, request: PageRequest, *, alone: bool = False
    ) -> str:
        """A page as text.

        Args:
            alone: as a file that needs no server: with its style, without links to
                other pages.
        """
        given = {
            "page": page,
            "site": site,
            "request": request,
            "alone": _inlined() if alone else None,
            **page.shown,
        }
        template = self._environment.get_template(page.template)
        context = template.new_context(given)
        try:
            text = "".join(template.root_render_func(context))
        finally:  # it stands in a circle with its macros, and would hold the scores of all prompts until that is found
            context.parent.clear()
            context.vars.clear()
        if alone:
            return _LINK.sub("", text)
        return text

    def error(self, status: int, words: str) -> str:
        """A page that says what is wrong."""
        return self._environment.get_template("error.html.j2").render(
            status=status, words=words
        )


def _inlined() -> Mapping[str, Any]:
    """Style and script of a page that stands alone, with what its policy names them by."""
    found: dict[str, Any] = {}
    for name in ("style", "script"):
        text = asset_text(f"{name}.{'css' if name == 'style' else 'js'}")
        found[name] = Markup(text)  # our own files
        found[f"{name}_hash"] = (
            "sha256-"
            + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        )
    return found


def asset_text(name: str) -> str:
    """A file of the report, that of the same name for these pages, and what readers of
    samples need besides."""
    parts = (
        ("report", name),
        ("serve", name),
        ("serve", f"reading.{name.rpartition('.')[2]}"),
    )
    return "".join(
        files(f"warehouse.{room}").joinpath(part).read_text("utf-8")
        for room, part in parts
    )


def _template(name: str) -> str:
    """A template of these pages, else of the report."""
    own = files("warehouse.serve").joinpath(name)
    return (
        own if own.is_file() else files("warehouse.report").joinpath(name)
    ).read_text("utf-8")
