"""The writer of records that needs no model: it extracts by rule what a unit tells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from pipeline.records.actions import Step
from pipeline.records.facts import cut, facts
from pipeline.records.labels import description, keywords
from pipeline.records.lengths import clipped, length, one_line
from pipeline.records.merge import merged
from pipeline.records.reading import Reading, speaker
from pipeline.records.record import NOTHING, RECORD_WORDS, Fact, MergedRecord, Record, UnitText, UnitTurn
from pipeline.records.tags import tags_of_chat, tags_of_steps
from pipeline.records.telling import Telling, said, tellings
from pipeline.records.trace import parsed_turn, trace

_FIRST_WORDS = 12
_MOST_FACTS = 10
_LEAST_FACT = 1.5
_TASK = 600
"""Characters: what an agent is asked to do stands first, how it may do so stands below."""
_TASK_WORDS = 40
_LEAST_WORDS = 32
"""Of a record, however short its unit is."""


class RuleWriter:
    """Writes records by rule: the sentences that hold most, or a trace of steps. Deterministic; in English at its best.

    A unit of a chat that tells nothing has its first words for a text, and the status `nothing`.
    """

    name = "rule"
    identity = "rule-2"

    def write(self, units: Sequence[UnitText]) -> list[Record]:
        """A record of each unit, in order."""
        return [self._of_steps(unit) if unit.agent else self._of_chat(unit) for unit in units]

    def merge(self, groups: Sequence[Sequence[str]]) -> list[MergedRecord]:
        """For each group of texts one of at most MERGED_WORDS words."""
        texts = [merged(group) for group in groups]
        return [MergedRecord(self.name, "ok" if text else "nothing", text or NOTHING) for text in texts]

    def _of_chat(self, unit: UnitText) -> Record:
        found = tellings(unit.turns)
        reading = Reading(found, unit.session_time)
        words = _room(unit)
        chosen = reading.chosen(words)
        text = reading.text(chosen, words)
        if not text:
            return self._nothing(unit)
        tags = tags_of_chat(Counter(chain.from_iterable(telling.terms for telling in found)))
        found_by = keywords([telling.sentence for telling in found], (turn.speaker for turn in unit.turns))
        who = list(dict.fromkeys(speaker(turn) for turn in unit.turns))
        about = description(who, tags, found_by)
        return Record(self.name, "ok", text, found_by, tags, about, _facts_of_chat(unit, found, chosen))

    def _of_steps(self, unit: UnitText) -> Record:
        text = trace(unit.turns, _room(unit))
        if not text:
            return self._nothing(unit)
        steps = [(turn, parsed_turn(turn)) for turn in unit.turns]
        lines = [line for _, parts in steps for done in parts.done for line in (done.action, done.error) if line]
        words = keywords(lines or [parts.thought for _, parts in steps], ())
        tags = tags_of_steps(turn.text for turn, _ in steps)
        return Record(self.name, "ok", text, words, tags, description((), tags, words), _facts_of_steps(unit, steps))

    def _nothing(self, unit: UnitText) -> Record:
        first = next((turn for turn in unit.turns if one_line(turn.text)), None)
        text = f"{speaker(first)}: {clipped(one_line(first.text[:1000]), _FIRST_WORDS)}" if first else NOTHING
        return Record(self.name, "nothing", text, (), (), "", ())


def _room(unit: UnitText) -> int:
    """The words of a unit's record: as many as any may have, but no more than a third of what it tells of."""
    told = sum(length(turn.text) for turn in unit.turns)
    return min(RECORD_WORDS, max(_LEAST_WORDS, told // 3))


def _facts_of_chat(unit: UnitText, found: Sequence[Telling], chosen: Sequence[int]) -> tuple[Fact, ...]:
    """Of what the text tells, and of the best beside it."""
    others = [place for place, telling in enumerate(found) if telling.worth >= _LEAST_FACT and place not in chosen]
    by_worth = sorted(others, key=lambda place: (-found[place].worth, place))
    best = [found[place] for place in sorted([*chosen, *by_worth][:_MOST_FACTS])]
    return facts(((telling.turn.turn_index, said(telling.sentence)) for telling in best), unit.session_time)


def _facts_of_steps(unit: UnitText, steps: Sequence[tuple[UnitTurn, Step]]) -> tuple[Fact, ...]:
    """What went wrong, and what was asked for."""
    asked = tellings(tuple(replace(turn, text=turn.text[:_TASK]) for turn, _ in steps if turn.role == "user"))
    best = [asked[place] for place in Reading(asked, unit.session_time).chosen(_TASK_WORDS)]
    sentences = [(telling.turn.turn_index, said(telling.sentence)) for telling in best]
    errors = [(turn.turn_index, cut(done.error)) for turn, parts in steps for done in parts.done if done.error]
    return facts((*sentences, *errors), unit.session_time)[:_MOST_FACTS]
