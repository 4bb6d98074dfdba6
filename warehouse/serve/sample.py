"""One prompt of a run: question, responses, scores, and the prompts before and after
it; raw texts as files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from warehouse.analysis.results import plain
from warehouse.analysis.selection.prompts import options as option_texts
from warehouse.analysis.show.answer import models_on_prompt, one_run
from warehouse.analysis.show.question import Show
from warehouse.analysis.show.view import PromptView
from warehouse.analysis.text.similar import similar
from warehouse.analysis.text.similar_view import SimilarRow
from warehouse.errors import MisuseError, StatisticsError
from warehouse.serve import markdown
from warehouse.serve.compare import read as read_comparison
from warehouse.serve.page import Download, Missing, Page, PageRequest, Site
from warehouse.store.computed.prompt_vectors import embedders
from warehouse.store.connection import Store
from warehouse.store.shared_reads import SharedReads
from warehouse.store.sql.query_files import query_text
from warehouse.tables.transcript import Message, ends_with, messages_of

#: Characters of a text that are shown, and of a transcript that is taken apart; longer
#: ones stand in a file.
MOST_TEXT, MOST_TRANSCRIPT = 20_000, 4_000_000
#: Generations of a page, messages of all of them, and rows of other models.
GENERATIONS, MESSAGES, MODELS = 10, 200, 100
#: What the address says where responses are shown as such.
MARKDOWN = "markdown"
#: Prompts that ask alike.
NEIGHBOURS = 5
#: Texts of a response that can be had as a file, and those of the prompt.
TEXTS, OF_PROMPT = (
    ("prompt_sent", "response", "explanation", "messages"),
    ("text", "target", "choices", "metadata"),
)
#: Fields of a response that are shown below it, where they are known.
FIELDS = (
    *(
        "extracted_answer",
        "finish_reason",
        "input_tokens",
        "output_tokens",
        "latency",
        "cost",
        "error",
    ),
    *(
        "n_turns",
        "n_tool_calls",
        "n_tool_errors",
        "limit_hit",
        "cached_tokens",
        "reasoning_tokens",
    ),
)
#: Columns that say which generation a row is of, as far as scores and choices know.
_DRAW = ("perturbation", "draw")


def sample(site: Site, request: PageRequest) -> Page:
    """The page of the address ``/sample?run=RUN&prompt=PROMPT``."""
    run, prompt = _named(request)
    with site.store.lend() as lent:
        store = SharedReads(
            lent
        )  # the next sample is mostly of the same run, and has the same models and embedders
        view = Show(run, prompt or _first_prompt(store, run)).ask(store)
        assert isinstance(view, PromptView)
        models = models_on_prompt(
            store, int(view.run["benchmark_id"]), int(view.prompt["id"])
        )
        neighbours = _neighbours(store, int(view.prompt["id"]))
    n = len(_responses(view))
    start = min(request.number("start"), max(0, n - 1) // GENERATIONS * GENERATIONS)
    form = request.value("as")
    if form not in ("", MARKDOWN):
        raise MisuseError(f"as is {MARKDOWN}, or left out; found {form[:40]!r}")
    shown = {
        "view": view,
        "generations": list(_generations(view, start, is_markdown=form == MARKDOWN)),
        "form": form,
        "markdown": MARKDOWN if markdown.is_installed() else "",
        "start": start,
        "n_generations": n,
        "per_page": GENERATIONS,
        "offered": option_texts(view.prompt["choices"]),
        "fields": FIELDS,
        "models": models[:MODELS],
        "n_models_left": len(models) - MODELS,
        "neighbours": neighbours,
        "adjacent": dict.fromkeys(("previous", "next", "other", "back"))
        | _adjacent(site, request, view),
        "most": MOST_TEXT,
    }
    title = (
        f"{view.prompt['tool_id'] or view.prompt['key'][:12]} by {view.run['model']}"
    )
    answer = view.to_dict() | {"models": models, "neighbours": plain(neighbours)}
    return Page(
        "sample.html.j2",
        title,
        shown,
        answer,
        [Show(f"run:{view.run['run_id']}", f"prompt:{view.prompt['id']}")],
    )


def text(site: Site, request: PageRequest) -> Download:
    """The file of the address ``/text?run=RUN&prompt=PROMPT&of=…&generation=N``: a text
    as it is stored."""
    run, prompt = _named(request)
    with site.store.lend() as store:
        view = Show(run, prompt).ask(store)
    name, index = request.value("of"), request.number("generation")
    assert isinstance(view, PromptView)
    if name in OF_PROMPT:
        value = view.prompt[name]
    elif name in TEXTS and index < len(view.responses):
        value = view.responses[index][name]
    else:
        raise Missing(
            f"there is no such text; texts are {', '.join((*OF_PROMPT, *TEXTS))}"
        )
    if value is None:
        raise Missing("this text is not stored")
    if isinstance(value, str):
        whole = value
    else:
        whole = json.dumps(value, ensure_ascii=False)
    return Download(
        f"run-{view.run['run_id']}-prompt-{view.prompt['id']}-{name}.txt",
        whole,
        "text/plain",
    )


def _named(request: PageRequest) -> tuple[str, str]:
    """Run and prompt of an address."""
    run, prompt = request.value("run"), request.value("prompt")
    if not run:
        raise MisuseError(
            "the address does not say which run: /sample?run=run:7&prompt=prompt:12"
        )
    return run, prompt


def _first_prompt(store: Store, run: str) -> str:
    """The first prompt of a run."""
    if run.startswith("prompt:"):
        raise MisuseError(
            f"{run} is a prompt; the address says of which run: "
            f"/sample?run=run:7&prompt={run}"
        )
    first = _around(store, int(one_run(store, run)["run_id"]), 0)["next_id"]
    if first is None:
        raise Missing(f"{run} has no samples: published figures only")
    return f"prompt:{first}"


def _around(store: Store, run: int, prompt: int) -> Mapping[str, Any]:
    return store.rows(
        query_text("analysis", "prompts_beside"), {"run": run, "prompt": prompt}
    )[0]


def _neighbours(store: Store, prompt: int) -> tuple[SimilarRow, ...]:
    """Prompts that ask nearly the same; none without vectors."""
    available = embedders(store)
    try:
        if not available:
            return ()
        return similar(
            store, f"prompt:{prompt}", top=NEIGHBOURS, embedder=available[0].label
        ).rows
    except MisuseError:  # the prompt has no vector
        return ()


def _adjacent(site: Site, request: PageRequest, view: PromptView) -> dict[str, Any]:
    """Addresses of the previous and the next prompt: of the filter where the address
    says one, else of the run."""
    if request.value("key") and request.value("a") and request.value("b"):
        try:
            return _adjacent_in_list(site, request, int(view.run["run_id"]))
        except (MisuseError, StatisticsError):
            pass  # the comparison is gone: the run is still there
    with site.store.lend() as store:
        around = _around(store, int(view.run["run_id"]), int(view.prompt["id"]))
    run = f"run:{view.run['run_id']}"
    urls = {
        name: request.url(run=run, prompt=f"prompt:{around[f'{name}_id']}", start=None)
        for name in ("previous", "next")
        if around[f"{name}_id"] is not None
    }
    return urls | {
        "at": around["place"],
        "n": around["n"],
        "of": f"{view.run['model']} on {view.run['benchmark']}",
    }


def _adjacent_in_list(site: Site, request: PageRequest, run: int) -> dict[str, Any]:
    flips = read_comparison(site, request)[2].flips
    after = flips.index_after(request.value("key"))
    side, other = "a", "b"
    if any(run in pair.b.run_ids for pair in flips.pairs):
        side, other = "b", "a"

    def url(index: int, side: str) -> str | None:
        if not 0 <= index < len(flips):
            return None
        condition = getattr(flips.pairs[flips.which[index]], side)
        prompt = f"prompt:{flips.prompts[index]}"
        return request.url(
            run=f"run:{condition.newest[1]}",
            prompt=prompt,
            key=flips.key(index),
            start=None,
        )

    urls = {
        "previous": url(after - 2, side),
        "next": url(after, side),
        "other": url(after - 1, other),
    }
    first = flips.key(after - 2) if after > 1 else None
    back = request.url(
        "/compare",
        run=None,
        prompt=None,
        key=None,
        before=None,
        after=first,
        start=None,
    )
    where = {
        "at": after,
        "n": len(flips),
        "of": f"{request.value('a')} against {request.value('b')}",
        "back": back,
    }
    return {name: value for name, value in urls.items() if value} | where


def _generations(
    view: PromptView, start: int, *, is_markdown: bool
) -> Iterator[dict[str, Any]]:
    """The generations of a page, each with its messages (of all `MESSAGES`), its
    scores, and options that it scored."""
    left, elements = MESSAGES, markdown.MOST_ELEMENTS
    for index, row in enumerate(
        _responses(view)[start : start + GENERATIONS], start=start
    ):
        messages, says_response = _messages(row)
        formed = None
        if is_markdown and row["response"] and elements:
            formed, n_elements = markdown.as_html(row["response"][:MOST_TEXT], elements)
            if formed:
                elements = elements - n_elements
            else:
                elements = 0
        described = [
            f"{name} {row[name]}"
            for name in ("perturbation", "fewshot_draw", "template")
            if row[name]
        ]
        yield {
            "index": index,
            "fields": row,
            "name": ", ".join([f"draw {row['draw']}", *described]),
            "messages": messages[:left],
            "n_messages_left": max(0, len(messages) - left),
            "says_response": says_response and formed is None,
            "formed": formed,
            "scores": [score for score in view.scores if _is_of(score, row)],
            "choices": [choice for choice in view.choices if _is_of(choice, row)],
        }
        left = max(0, left - len(messages))


def _responses(view: PromptView) -> Sequence[Mapping[str, Any]]:
    """The responses; where none is stored, what scores and choices tell of them."""
    if view.responses:
        return view.responses
    draws = dict.fromkeys(
        (row["perturbation"], row["draw"]) for row in (*view.scores, *view.choices)
    )
    nothing = dict.fromkeys((*FIELDS, *TEXTS, "fewshot_draw", "template"))
    return [nothing | dict(zip(_DRAW, draw, strict=True)) for draw in draws]


def _is_of(row: Mapping[str, Any], generation: Mapping[str, Any]) -> bool:
    return all(row[name] == generation[name] for name in _DRAW)


_LIKE_MESSAGES = re.compile(r'\s*\[\s*\{\s*"(role|content)"')


def _messages(row: Mapping[str, Any]) -> tuple[tuple[Message, ...], bool]:
    """The transcript of a response, else the messages of its prompt; and whether they
    end with the response."""
    stored = row["messages"]
    for text in (stored, row["prompt_sent"]):
        if (
            text
            and len(text) <= MOST_TRANSCRIPT
            and (text is stored or _LIKE_MESSAGES.match(text))
        ):
            try:
                messages = tuple(messages_of(text, 100))
                return messages, text is stored and ends_with(
                    text, row["response"] or ""
                )
            except (ValueError, TypeError, AttributeError, RecursionError):
                continue  # no messages after all: it is shown as it is
    return (), False
