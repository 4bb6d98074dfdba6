"""``python -m warehouse``: the command ``warehouse`` where no script is at hand."""

from __future__ import annotations

import sys

from warehouse.cli.start import main  # type: ignore[import-not-found]  # lies in cli/, installed here

if __name__ == "__main__":
    sys.exit(main())
