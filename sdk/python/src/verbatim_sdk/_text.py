"""Values as text, for queries, forms and JSON bodies."""

from __future__ import annotations

import json


def write_json(value: object) -> str:
    """JSON text without white space. Raises ValueError for NaN and infinities, which JSON does not have."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)


def text_of(value: object) -> str:
    """A value as a query parameter or form field: `true` and `false`, numbers, times in ISO 8601, text as it is."""
    if isinstance(value, bool):
        return "true" if value else "false"
    isoformat = getattr(value, "isoformat", None)
    return str(isoformat() if isoformat else value)
