"""Run a command as a user whom permissions bind, also where the tests are run by root.

python tests/support/incapable.py COMMAND ARGUMENT...
"""

from __future__ import annotations

import ctypes
import os
import sys

DROP_FROM_BOUNDS = 24  # PR_CAPBSET_DROP
OVERRIDES = (1, 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


def give_up_overrides() -> None:
    """What is run from now on cannot look past the permissions of files; no-op without the right
    to give that up."""
    system = ctypes.CDLL(None)
    for capability in OVERRIDES:
        system.prctl(DROP_FROM_BOUNDS, capability, 0, 0, 0)


if __name__ == "__main__":
    give_up_overrides()
    os.execv(sys.argv[1], sys.argv[1:])
