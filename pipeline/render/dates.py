"""Dates and times of day in words, whatever the locale: it must not change a slate."""

from __future__ import annotations

from datetime import date, datetime

_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def day(time: date) -> str:
    """`8 May 2023`, of a date or a time."""
    return f"{time.day} {month(time)}"


def month(time: date) -> str:
    """`May 2023`, of a date or a time."""
    return f"{_MONTHS[time.month - 1]} {time.year}"


def clock(time: datetime) -> str:
    """`09:05`, from 00:00 to 23:59."""
    return f"{time.hour:02d}:{time.minute:02d}"
