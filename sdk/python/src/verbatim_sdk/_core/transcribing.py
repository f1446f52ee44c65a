"""From the arguments of a transcription to the fields of its request, and the progress that it reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from .._text import write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True)
class Progress:
    """
    How far a transcription has come.

    - `phase`: `upload`, then `queue`, then `work`
    - `part`: of the phase, 0 to 1
    - `queue_position`: 1 is the next to start; while it waits
    """

    phase: Literal["upload", "queue", "work"]
    part: float
    queue_position: int | None = None


def json_fields(params: Mapping[str, Any], metadata: object) -> dict[str, Any]:
    """The JSON body of a request with `audio_url`. Metadata is a string that contains JSON."""
    fields = {name: value for name, value in params.items() if value is not None}
    return {**fields, "async": True, **({} if metadata is None else {"metadata": write_json(metadata)})}


def form_fields(params: Mapping[str, Any], metadata: object) -> dict[str, Any]:
    """The fields of a form beside its file."""
    return {**params, "async": True, "metadata": None if metadata is None else write_json(metadata)}


def upload_reports(on_progress: Callable[[Progress], None] | None) -> Callable[[float], None] | None:
    """What an upload calls with the part that was sent."""
    if on_progress is None:
        return None
    return lambda part: on_progress(Progress("upload", part))
