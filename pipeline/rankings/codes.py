"""Why a row of an imported ranking is in quarantine, as a word that a program may rely on."""

from __future__ import annotations

from enum import StrEnum


class Code(StrEnum):
    """Codes of the quarantine rows of `rankings`."""

    INCOMPLETE = "incomplete"
    """A row without a request, a turn or a score."""
    UNKNOWN_REQUEST = "unknown_request"
    """No stored request has this id."""
    AMBIGUOUS_REQUEST = "ambiguous_request"
    """Requests of several histories have this id."""
    UNKNOWN_TURN = "unknown_turn"
    """No stored turn of the request's history bears these names."""
    AMBIGUOUS_TURN = "ambiguous_turn"
    """Several stored turns bear these names."""


REASONS = {
    Code.INCOMPLETE: "it has no request_id, no source_turn, or no finite score",
    Code.UNKNOWN_REQUEST: "no request of this id is stored",
    Code.AMBIGUOUS_REQUEST: "several histories have a request of this id: give history_id",
    Code.UNKNOWN_TURN: "its history has no stored turn of this name",
    Code.AMBIGUOUS_TURN: "its history has several turns of this name: give source_session, or ids that differ",
}
"""What a person is told."""
