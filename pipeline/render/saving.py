"""What a slate saves of the tokens that its lines and headers take each by itself."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from itertools import pairwise

from models.interfaces import TokenCounter
from pipeline.render.slate_text import Shown
from pipeline.render.style import Style


class PartSavings:
    """Tokens that a style saves, part by part: by itself a line names its speaker in full, a header follows none."""

    def __init__(self, style: Style, counter: TokenCounter) -> None:
        self._style = style
        self._tokens = lru_cache(maxsize=None)(counter.count)
        self.by_following = lru_cache(maxsize=None)(self._by_following)

    def by_calling(self, name: str, called: str) -> int:
        """What each line of a speaker saves by what the slate calls them."""
        opening = self._style.opening
        return self._tokens(opening(self._style.alone(name))) - self._tokens(opening(called))

    def by_names(self, lines: Counter[str]) -> int:
        """What names save, less the legend, where each speaker has that many lines."""
        names = self._style.names(lines)
        saved = sum(count * self.by_calling(name, names.called[name]) for name, count in lines.items())
        return saved - (self._tokens(names.legend) if names.legend else 0)

    def _by_following(self, before: datetime | None, time: datetime | None) -> int:
        """What the header of a session at `time` saves where it follows one at `before`."""
        header, end = self._style.header, self._style.after_header
        return self._tokens(header(1, time, None) + end) - self._tokens(header(1, time, before) + end)


class Saving:
    """Tokens saved by the turns of a slate, which are added one by one; at first there are none."""

    def __init__(self, shown: Shown, parts: PartSavings) -> None:
        self._shown = shown
        self._parts = parts
        self._lines: Counter[str] = Counter()
        self._by_names: dict[str, int] = {}  # with one line more of this speaker; until the next turn is added
        self._sessions: set[int] = set()
        self._opened: list[int] = []  # the place that opened each session, ascending: as the sessions stand
        self._by_headers = 0

    def with_turn(self, place: int) -> int:
        """Tokens saved once the turn at `place` is added; adds nothing."""
        name = self._shown.names[place]
        if name not in self._by_names:
            self._by_names[name] = self._parts.by_names(self._lines + Counter([name]))
        return self._by_names[name] + self._by_headers + self._by_header(place)

    def add(self, place: int) -> None:
        """Adds the turn at `place`."""
        session = self._shown.session_indices[place]
        if session not in self._sessions:
            self._by_headers += self._by_header(place)
            self._opened.insert(bisect_left(self._opened, place), place)
            self._sessions.add(session)
        self._lines[self._shown.names[place]] += 1
        self._by_names.clear()

    def _by_header(self, place: int) -> int:
        """What opening the session of `place` saves, 0 where it is open. The next header follows it then."""
        if self._shown.session_indices[place] in self._sessions:
            return 0
        at = bisect_left(self._opened, place)
        before, after = self._opened[max(at - 1, 0) : at], self._opened[at : at + 1]
        return self._in_row([*before, place, *after]) - self._in_row([*before, *after])

    def _in_row(self, places: Sequence[int]) -> int:
        times = (self._shown.session_times[place] for place in places)
        return sum(self._parts.by_following(before, time) for before, time in pairwise(times))
