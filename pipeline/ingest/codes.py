"""Why something is in quarantine, as a word that a program may rely on; the reason beside it is for people."""

from __future__ import annotations

from enum import StrEnum


class Code(StrEnum):
    """Codes of ingest's quarantine rows."""

    NOT_JSON = "not_json"
    """A record that cannot be parsed at all."""
    WRONG_SHAPE = "wrong_shape"
    """A record whose keys or types are not the format's."""
    BAD_SESSION = "bad_session"
    """A session that is not what the format says."""
    BAD_TIME = "bad_time"
    """A time that is there and cannot be parsed: what hangs on it is lost, and nothing falls back to now."""
    BAD_TURN = "bad_turn"
    """A turn that is not what the format says."""
    BAD_REQUEST = "bad_request"
    """A request that is not what the format says."""
    UNKNOWN_SEEN = "unknown_seen"
    """A request whose last seen turn is not stored."""
    CONFLICT = "conflict"
    """A request whose id is taken by other content."""
    NO_ROOM = "no_room"
    """More sessions than one history may have in one batch."""
    CITATION = "citation"
    """A note: a citation that names no turn, or more than one."""
    NO_TURNS = "no_turns"
    """A note: a request of a history of which no turn is stored."""
    NO_LABELS = "no_labels"
    """A note: evidence that cannot be given to one of several requests."""
