"""What a load adds to prompts that others have brought: fields, texts, and who said
what."""

from __future__ import annotations

from warehouse.store.connection import Store
from warehouse.store.curate import field_clusters
from warehouse.store.load import prompt_completion, prompt_statements
from warehouse.store.load.facts import benchmarks_of
from warehouse.store.load.scratch import Scratch
from warehouse.store.load.state import NotTogetherError, _Load


def fill_prompts(
    store: Store,
    scratch: Scratch,
    settled: prompt_completion.SettledPrompts,
    state: _Load,
    *,
    once: bool,
) -> None:
    """Give prompts what they lack and the load says, and keep its words on them.

    Args:
        once: as of the loader.
    """
    if not state.n_rows:
        return
    filled = prompt_completion.Filled()
    # of a prompt with one row all that is said is stored
    is_said = once and state.new_prompts == state.n_rows
    if not is_said and prompt_completion.says_anything(scratch, state.columns):
        filled = _filled(store, scratch, settled, state)
    _state_prompts(store, scratch, state, filled.words)


def _filled(
    store: Store,
    scratch: Scratch,
    settled: prompt_completion.SettledPrompts,
    state: _Load,
) -> prompt_completion.Filled:
    filled = prompt_completion.fill(
        store,
        scratch,
        settled,
        benchmarks_of(state),
        state.columns,
        several=len(state.parts) > 1,
        n_new=state.new_prompts,
        n_rows=state.n_rows,
    )
    if filled is None:
        raise NotTogetherError("they say different things of a prompt")
    for note in filter(None, (_note_on_mixed(scratch, state), *filled.notes())):
        state.note(note)
    if filled.has_metadata:
        store.dialect.lock_catalogue(store.connection)
        field_clusters.extend(store, benchmarks_of(state))
    return filled


def _state_prompts(
    store: Store, scratch: Scratch, state: _Load, words: prompt_statements.Words
) -> None:
    """Store the words of sources on prompts that others have brought, or have said
    something of."""
    if (
        state.new_prompts
        and not words.by_prompt
        and prompt_completion.are_new(scratch, state.new_prompts, state.n_rows)
    ):
        return
    sources: dict[int, list[int]] = {}
    for part in state.parts:
        benchmarks = {state.references[run]["benchmark_id"] for run in part.runs}
        sources[part.source.id] = sorted(benchmarks)
    first = state.first_new_prompt or 0
    new = range(first, first + state.new_prompts)
    prompt_statements.note_gained(store, words, benchmarks_of(state), new, sources)
    state.statements += prompt_statements.of_load(
        scratch, state.columns, words, sources
    )


def _note_on_mixed(scratch: Scratch, state: _Load) -> str:
    can_mix = not state.are_apart and {"prompt_id", "text"} <= set(state.columns)
    if can_mix:
        return prompt_completion.note_on_mixed(scratch)
    return ""
