"""Run a command as a user whom permissions bind, also where the tests are run by root.

python tests/support/incapable.py COMMAND ARGUMENT...
"""

from __future__ import annotations

import ctypes
import runpy
import sys

VERSION = 0x20080522  # _LINUX_CAPABILITY_VERSION_3
DROP_FROM_BOUNDS = 24  # PR_CAPBSET_DROP
OVERRIDES = (1, 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


def give_up_overrides() -> None:
    """This thread, and what is run from now on, cannot look past the permissions of
    files; no-op without the right to give that up."""
    system = ctypes.CDLL(None)
    for capability in OVERRIDES:
        system.prctl(DROP_FROM_BOUNDS, capability, 0, 0, 0)
    header, sets = (ctypes.c_uint32 * 2)(VERSION, 0), (ctypes.c_uint32 * 6)()
    system.capget(header, sets)
    for capability in OVERRIDES:
        sets[0] &= ~(1 << capability)  # effective
        sets[1] &= ~(1 << capability)  # permitted
    system.capset(header, sets)


if __name__ == "__main__":
    give_up_overrides()
    _, *sys.argv = sys.argv
    runpy.run_path(sys.argv[0], run_name="__main__")
