"""Sessions of a log that tells none, or runs for weeks: the messages of one day are a session.

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

Days = dict[date | None, list[SourceTurn]]
"""The turns of each day (UTC) in the order of the log; under None those before the first that has a time."""
Times = dict[int, datetime]
"""The time of each turn that has one, by its position in the log."""


def add_days(
    history: SourceHistory,
    messages: Iterable[object],
    prefix: str,
    read: Callable[[int, object], tuple[SourceTurn, datetime | None]],
) -> Times:
    """Adds the messages as sessions, one a day in UTC, in the order of days; the times of their turns.

    A session is called after its day, and its time is that of its first message; the messages before the first time
    are a session without a name and a time. `read` and days as in by_day.
    """
    days, times = by_day(history, messages, prefix, read)
    for number, named in enumerate(sorted(days, key=lambda named: (named is not None, named or date.min))):
        turns = days[named]
        name = None if named is None else named.isoformat()
        history.sessions.append(
            SourceSession(number, name, first_time(turns, times), turns, one_of_its_name=name is not None)
        )
    return times


def by_day(
    history: SourceHistory,
    messages: Iterable[object],
    prefix: str,
    read: Callable[[int, object], tuple[SourceTurn | None, datetime | None]],
    *,
    forward: bool = False,
) -> tuple[Days, Times]:
    """The turns of the messages by their days, the days in the order in which they come; and the times of the turns.

    `read` makes a turn (None: no turn) and its time of a message by position; what it refuses (MessageError, TimeError)
    is quarantined. A message without a time belongs to the day of the one before it. `forward` is for a log whose order
    is surer than its clocks: a message that tells an earlier time than one before it gets the time of that one, so that
    times never go back, and no message is seen before what it answers.
    """
    days: Days = {}
    times: Times = {}
    day: date | None = None
    latest: datetime | None = None
    for position, message in enumerate(messages):
        try:
            turn, time = read(position, message)
        except MessageError as error:
            history.refuse(Code.BAD_TURN, f"{prefix}turn {position}", str(error))
            continue
        except TimeError as error:
            history.refuse(Code.BAD_TIME, f"{prefix}turn {position}", str(error))
            continue
        if turn is None:
            continue
        if time is not None:
            latest = max(time, latest) if forward and latest else time
            times[position], day = latest, latest.date()
        days.setdefault(day, []).append(turn)
    return days, times


def first_time(turns: Iterable[SourceTurn], times: Times) -> datetime | None:
    """The time of the first of the turns that has one."""
    return next((times[turn.position] for turn in turns if turn.position in times), None)
