"""Dates as LongMemEval writes them, with names that no locale changes."""

from __future__ import annotations

from datetime import datetime, timedelta

from pipeline.synth.dice import Dice

_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_START = datetime(2022, 1, 1)
_GAP_DAYS = ((0, 2), (1, 4), (2, 4), (3, 4), (5, 3), (8, 2), (13, 1))


def stamp(time: datetime) -> str:
    """`2023/05/20 (Sat) 02:21`."""
    return f"{time.year:04}/{time.month:02}/{time.day:02} ({_WEEKDAYS[time.weekday()]}) {time.hour:02}:{time.minute:02}"


def session_times(dice: Dice, sessions: int) -> list[datetime]:
    """Ascending times of sessions, zero days to two weeks apart; two sessions of a day are hours apart."""
    time = _START + timedelta(days=dice.below(700), hours=dice.between(6, 12), minutes=dice.below(60))
    times = [time]
    while len(times) < sessions:
        gap = timedelta(days=dice.weighted(_GAP_DAYS), minutes=dice.between(90, 300))
        time = times[-1] + gap
        if time.hour < 6:  # nobody chats at night
            time += timedelta(hours=6)
        times.append(time)
    return times
