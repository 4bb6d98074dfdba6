"""Where the script ``warehouse`` begins: what is loaded before anything can be asked may
be interrupted, too."""

from __future__ import annotations

import sys
from collections.abc import Sequence

#: 128 + SIGINT, as of :mod:`.failures`, which is not loaded yet.
_INTERRUPTED = 130


def main(args: Sequence[str] | None = None) -> int:
    """Run one command line; Ctrl-C also while it is loaded ends it with a line.

    Returns:
        the exit code of :func:`.main.main`; 130 where it was interrupted.
    """
    try:
        from .main import main as run

        return run(args)
    except KeyboardInterrupt:
        print("Error: interrupted", file=sys.stderr)
        return _INTERRUPTED
