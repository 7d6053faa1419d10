"""Options of solvers and losses that scikit-learn's searches can reach (`solver__batch_size`)."""

from __future__ import annotations

from dataclasses import fields
from typing import Any


class Options:
    """Base of option dataclasses: `get_params` and `set_params` over their fields."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the options by name."""
        own = [field.name for field in fields(self) if field.init]  # type: ignore[arg-type]
        return {name: getattr(self, name) for name in own}

    def set_params(self, **options: Any) -> Any:
        """Set options by name; return self."""
        known = self.get_params()
        for name, value in options.items():
            if name not in known:
                raise ValueError(
                    f"{type(self).__name__} has no option {name!r}; its options are "
                    f"{', '.join(known) or 'none'}."
                )
            setattr(self, name, value)
        return self
