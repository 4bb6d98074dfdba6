"""Assertions are rewritten once for all processes of a run.

pytest rewrites each file of tests where it was not yet, as on a fresh checkout: 15 s of
the processor, in each process, for all collect the same files in the same order. Here
each first takes its share, and finds those of the others.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest.assertion import rewrite


def rewrite_share(config: pytest.Config) -> None:
    """Rewrite the files that fall to this process, if there are several and it may
    write."""
    if sys.dont_write_bytecode or not hasattr(config, "workerinput"):
        return
    number, of = (
        int(config.workerinput["workerid"][2:]),
        config.workerinput["workercount"],
    )
    for path in sorted(_files(config.args))[number::of]:
        kept = rewrite.get_cache_dir(path) / f"{path.stem}{rewrite.PYC_TAIL}"
        if not kept.exists() and rewrite.try_makedirs(kept.parent):
            source, code = rewrite._rewrite_test(path, config)
            rewrite._write_pyc(
                config.stash[rewrite.assertstate_key], code, source, kept
            )


def _files(named: list[str]) -> Iterator[Path]:
    for path in (Path(one.partition("::")[0]).resolve() for one in named):
        if path.is_dir():
            yield from path.rglob("test_*.py")
        elif path.is_file():  # pytest says of the others that they are not there
            yield path
