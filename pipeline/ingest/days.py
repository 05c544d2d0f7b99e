"""Sessions of a log that tells none: the messages of one day are a session.

What day a message belongs to hangs on itself and on what stands before it alone, so a log that grows at its end only
adds to its last session and behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, datetime

from pipeline.ingest.codes import Code
from pipeline.ingest.messages import MessageError
from pipeline.ingest.source import SourceHistory, SourceSession, SourceTurn
from pipeline.ingest.times import TimeError

Times = dict[int, datetime]
"""The time of each turn that has one, by its position in the log."""


def add_days(
    history: SourceHistory,
    messages: Iterable[object],
    prefix: str,
    read: Callable[[int, object], tuple[SourceTurn, datetime | None]],
) -> Times:
    """Adds the messages as sessions, one a day in UTC, in the order of days; the times of their turns.

    `read` makes a turn and its time of a message by position; what it refuses (MessageError, TimeError) is quarantined.
    A session is called after its day, and its time is that of its first message. A message without a time belongs to
    the day of the one before it; those before the first time are a session without a name and a time.
    """
    days: dict[date | None, list[SourceTurn]] = {}
    times: Times = {}
    day: date | None = None
    for position, message in enumerate(messages):
        try:
            turn, time = read(position, message)
        except MessageError as error:
            history.refuse(Code.BAD_TURN, f"{prefix}turn {position}", str(error))
            continue
        except TimeError as error:
            history.refuse(Code.BAD_TIME, f"{prefix}turn {position}", str(error))
            continue
        if time is not None:
            times[position], day = time, time.date()
        days.setdefault(day, []).append(turn)
    for number, named in enumerate(sorted(days, key=lambda named: (named is not None, named or date.min))):
        turns = days[named]
        first = next((times[turn.position] for turn in turns if turn.position in times), None)
        name = None if named is None else named.isoformat()
        history.sessions.append(SourceSession(number, name, first, turns, one_of_its_name=name is not None))
    return times
