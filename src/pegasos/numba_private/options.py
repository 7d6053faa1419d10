"""Options of `numba.njit` that its documentation does not list.

`_nrt=False` (Numba 0.13) leaves out what counts references to arrays. `forceinline` (0.53) puts a
function into the one that calls it. `no_cfunc_wrapper` (0.46) leaves out an entrance for callers
that are handed a function as an argument: nobody is, and it has to be compiled. Numba asks which
options there are when it compiles, too late to do without: they are looked up where it will look.
"""

from __future__ import annotations

from typing import Any

from pegasos.numba_private import note_absence


def _known(wanted: dict[str, bool]) -> dict[str, Any]:
    """Return those of the options that this version of Numba has."""
    found = {}
    for name, value in wanted.items():
        try:
            from numba.core.cpu import CPUTargetOptions

            getattr(CPUTargetOptions, name)
            found[name] = value
        except (ImportError, AttributeError) as error:
            note_absence(f"the option {name}", error)
    return found


PLAIN = _known({"no_cfunc_wrapper": True})
UNCOUNTED = PLAIN | _known({"_nrt": False})
INLINED = _known({"forceinline": True}) | UNCOUNTED
