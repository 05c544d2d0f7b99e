"""What the real files hold, counted in plain Python from what is known of their formats, with nothing of the readers.

Each function gives histories, sessions, turns, requests, labels, dropped turns and quarantined rows of one file.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

Counts = list[int]


def counts_of(file: Path) -> Counts:
    """The counts of a real file, by the folder that it lies in."""
    return COUNTED[file.parent.name](json.loads(file.read_text(encoding="utf-8")))


def _locomo(items: Any) -> Counts:
    found: Counter[str] = Counter(histories=len(items))
    for item in items:
        said = [turns for key, turns in item["conversation"].items() if re.fullmatch(r"session_\d+", key)]
        ids = Counter(turn["dia_id"] for turns in said for turn in turns)
        found["sessions"] += sum(bool(turns) for turns in said)
        found["turns"] += sum(map(len, said))
        for question in item["qa"]:
            found["requests"] += 1
            words = [word for text in question["evidence"] for word in re.split(r"[;\s]+", text) if word]
            named = {re.sub(r"(?<=[D:])0+", "", word.replace("D:", "D")) for word in words}
            found["labels"] += sum(ids[name] == 1 for name in named)
            found["quarantined"] += sum(ids[name] != 1 for name in named)
    return _in_order(found)


def _longmemeval(items: Any) -> Counts:
    found: Counter[str] = Counter(histories=len(items))
    for item in items:
        turns = [turn for session in item["haystack_sessions"] for turn in session]
        found["sessions"] += sum(bool(session) for session in item["haystack_sessions"])
        found["turns"] += len(turns)
        found["requests"] += len(item["question"]) if isinstance(item["question"], list) else 1
        found["labels"] += sum(turn.get("has_answer", False) for turn in turns)
    return _in_order(found)


def _of_run(turns: int) -> Counts:
    return [1, 1, turns, 1, 0, 0, 0]


def _mini_swe_agent(messages: Any) -> Counts:
    roles = [message["role"] for message in messages]
    observed = sum(role != "assistant" and before == "assistant" for before, role in pairwise(roles))
    return _of_run(len(roles) - observed)


def _openai_chat(value: Any) -> Counts:
    # The log of a call holds its messages, and the reply to them.
    return _of_run(len(value) if isinstance(value, list) else len(value["messages"]) + 1)


def _openhands(events: Any) -> Counts:
    return _of_run(sum("action" in event for event in events))


def _swe_agent(value: Any) -> Counts:
    messages = [message for message in value["history"] if not message.get("is_demo")]
    roles = [message["role"] for message in messages]
    steps = len(value["trajectory"]) if "trajectory" in value else roles.count("assistant")
    return _of_run(roles.index("assistant") + steps)


def _in_order(found: Counter[str]) -> Counts:
    names = ("histories", "sessions", "turns", "requests", "labels", "dropped", "quarantined")
    return [found[name] for name in names]


COUNTED: dict[str, Callable[[Any], Counts]] = {
    "locomo": _locomo,
    "longmemeval": _longmemeval,
    "mini-swe-agent": _mini_swe_agent,
    "openai-chat": _openai_chat,
    "openhands": _openhands,
    "swe-agent": _swe_agent,
}
