"""A small source of every format as it grows: nightly deliveries that overlap, and come in any order.

Of a list whose parts bear ids a night may bring any; of one that tells its parts by where they stand, the first ones.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from inside import ITEMS
from tiny_sources import SOURCES, Path, Pattern, Tiny, fits

NIGHTS = 5
EVERY_STEP = {"requests": "every-step"}
Way = Literal["any", "first"]
"""Which parts of a list a night may bring: any, or some of the first."""
Files = dict[str, bytes]


@dataclass(frozen=True)
class Growing:
    """A source, and which of its lists grow. `opened` makes lists of what grows otherwise, `closed` undoes it."""

    tiny: Tiny
    lists: dict[Pattern, Way]
    opened: Callable[[Any], Any] = lambda value: value
    closed: Callable[[Any], Any] = lambda value: value
    options: dict[str, str] = field(default_factory=dict)

    def whole(self) -> Files:
        """Every file, as one delivery brings it."""
        return {name: self._payload(name, value) for name, value in self._told().items()}

    def nights(self, dice: random.Random) -> list[Files]:
        """Deliveries that bring everything between them, some of it again, grown, or as it was before."""
        told, homes = self._told(), _Homes(self.lists, dice)
        nights: list[Files] = []
        for night in range(NIGHTS):
            brought = {name: homes.part(value, night, (name,)) for name, value in told.items()}
            nights.append({name: self._payload(name, part) for name, (part, due) in brought.items() if due})
        return [files for files in nights if files]

    def earlier(self) -> Files:
        """Every file as it was when each list had grown to two thirds of its length."""
        return self._with(lambda parts, _: parts[: max(1, 2 * len(parts) // 3)])

    def without_the_first(self) -> Files:
        """Every file without what stands first in a list of which any part may come."""
        return self._with(lambda parts, way: parts[1:] if way == "any" and len(parts) > 1 else parts)

    def cut_in_a_step(self) -> Files:
        """A log, up to the action of its last step of which anything was observed."""

        def cut(steps: list[Any], way: Way) -> list[Any]:
            if way == "any":
                return steps
            last = max(at for at, step in enumerate(steps) if len(step) > 1)
            return [*steps[:last], steps[last][:1]]

        return self._with(cut)

    def _with(self, choose: Callable[[list[Any], Way], list[Any]]) -> Files:
        def part(value: Any, path: Path) -> Any:
            if isinstance(value, dict):
                return {key: part(below, (*path, key)) for key, below in value.items()}
            if not isinstance(value, list):
                return value
            parts = [part(below, (*path, at)) for at, below in enumerate(value)]
            way = _way(self.lists, path)
            return parts if way is None else choose(parts, way)

        return {name: self._payload(name, part(value, ())) for name, value in self._told().items()}

    def _told(self) -> dict[str, Any]:
        return {name: self.opened(copy.deepcopy(value)) for name, value in self.tiny.files.items()}

    def _payload(self, name: str, told: Any) -> bytes:
        value = self.closed(copy.deepcopy(told))
        return Tiny(self.tiny.source_format, {name: value}, (), (), self.tiny.lines).payload(name)


class _Homes:
    """Each part of a list comes on a night of its own, as far as it has grown at last; on others it may come, too."""

    def __init__(self, lists: dict[Pattern, Way], dice: random.Random) -> None:
        self._lists = lists
        self._dice = dice
        self._night: dict[Path, int] = {}

    def part(self, value: Any, night: int, path: Path) -> tuple[Any, bool]:
        """What a night brings of a value, and whether it brings it at all."""
        if isinstance(value, dict):
            inner = {key: self.part(below, night, (*path, key)) for key, below in value.items()}
            return {key: part for key, (part, _) in inner.items()}, any(due for _, due in inner.values())
        if not isinstance(value, list):
            return value, False
        parts = [self.part(below, night, (*path, at)) for at, below in enumerate(value)]
        way = _way(self._lists, path[1:])
        if way == "any":
            parts = [(part, due or self._comes((*path, at), night)) for at, (part, due) in enumerate(parts)]
            parts = [one for one in parts if one[1] or self._dice.random() < 0.3]
        due = any(due for _, due in parts)
        if way == "first" and not due:
            due = self._comes(path, night)
            if not due:
                parts = parts[: self._dice.randint(1, len(parts))]
                due = self._dice.random() < 0.3
        return [part for part, _ in parts], due

    def _comes(self, path: Path, night: int) -> bool:
        return self._night.setdefault(path, self._dice.randrange(NIGHTS)) == night


def _way(lists: dict[Pattern, Way], path: Path) -> Way | None:
    leads = (way for pattern, way in lists.items() if len(pattern) == len(path) and all(map(fits, pattern, path)))
    return next(leads, None)


def _changed(name: str, change: Callable[[Any], None]) -> Tiny:
    """A source of tiny_sources, with a change to each of its files."""
    files = copy.deepcopy(SOURCES[name].files)
    for value in files.values():
        change(value)
    return replace(SOURCES[name], files=files)


def _longmemeval() -> Growing:
    columns = ("haystack_session_ids", "haystack_dates", "haystack_sessions")

    def opened(items: Any) -> Any:
        for item in items:
            rows = zip(*[item.pop(key) for key in columns], strict=True)
            item["told"] = [dict(zip(columns, row, strict=True)) for row in rows]
        return items

    def closed(items: Any) -> Any:
        for item in items:
            told = item.pop("told")
            item.update({key: [session[key] for session in told] for key in columns})
        return [item for item in items if item["haystack_sessions"]]

    lists: dict[Pattern, Way] = {(): "any", ("#", "told"): "any", ("#", "told", "#", "haystack_sessions"): "first"}
    return Growing(Tiny("longmemeval", {"a.json": ITEMS}, (), ()), lists, opened, closed)


def _dialogue(name: str, *within: str) -> Growing:
    """Sessions stand under keys, their dates under others."""

    def containers(value: Any) -> list[Any]:
        return [item["conversation"] for item in value] if within else [value]

    def opened(value: Any) -> Any:
        for told in containers(value):
            names = [key for key in told if f"{key}_date_time" in told]
            told["told"] = [{"name": key, "at": told.pop(f"{key}_date_time"), "turns": told.pop(key)} for key in names]
        return value

    def closed(value: Any) -> Any:
        for told in containers(value):
            for session in told.pop("told"):
                told.update({session["name"]: session["turns"], f"{session['name']}_date_time": session["at"]})
        return value

    lists: dict[Pattern, Way] = {(*within, "told"): "any", (*within, "told", "#", "turns"): "any"}
    return Growing(SOURCES[name], lists | ({(): "any"} if within else {}), opened, closed)


def _memsim() -> Growing:
    """The question is asked in the middle of a day: what it does not see of it may not have come yet."""

    def change(value: Any) -> None:
        for trajectory in (*value["simple"]["roles"], *value["noisy"]["roles"]):
            trajectory["question_list"][0]["time"] = "2024年04月02日 周二 08:12"

    lists: dict[Pattern, Way] = {("*", "*"): "any", ("*", "*", "#", "message_list"): "any"}
    return Growing(_changed("memsim", change), lists)


def _letta() -> Growing:
    """All messages are of one day, of which an export may hold any: they are numbered anew in each."""

    def change(value: Any) -> None:
        for agent in value["agents"]:
            for message in agent["messages"]:
                message["created_at"] = message["created_at"].replace(message["created_at"][:10], "2025-10-01")

    def closed(value: Any) -> Any:
        for agent in value["agents"]:
            for number, message in enumerate(agent["messages"]):
                message["id"] = f"message-{number}"
        return value

    lists: dict[Pattern, Way] = {("agents",): "any", ("agents", "#", "messages"): "any"}
    return Growing(_changed("letta", change), lists, closed=closed, options=EVERY_STEP)


def _chatgpt() -> Growing:
    """A conversation goes on over midnight, and begins on the day of another."""

    def change(conversations: Any) -> None:
        for conversation in conversations:
            told = [node["message"] for node in conversation["mapping"].values() if node["message"] is not None]
            for at, message in enumerate(told):
                message["create_time"] = conversation["create_time"] + 10 * 3600 * at

    def opened(conversations: Any) -> Any:
        for conversation in conversations:
            conversation["mapping"] = list(conversation["mapping"].items())
        return conversations

    def closed(conversations: Any) -> Any:
        for conversation in conversations:
            nodes = dict(conversation["mapping"])
            conversation.update({"mapping": nodes, "current_node": list(nodes)[-1]})
        return conversations

    lists: dict[Pattern, Way] = {(): "any", ("#", "mapping"): "first"}
    return Growing(_changed("chatgpt", change), lists, opened, closed, EVERY_STEP)


def _openai_chat() -> Growing:
    """Each line is the log of a call: the reply to it stands apart, and among the messages of the next one."""

    def opened(lines: Any) -> Any:
        for line in lines:
            line["messages"].append(line.pop("response")["choices"][0]["message"])
        return lines

    def closed(lines: Any) -> Any:
        for line in lines:
            if line["messages"][-1]["role"] == "assistant":
                line["response"] = {"choices": [{"message": line["messages"].pop()}]}
        return lines

    return Growing(SOURCES["openai-chat"], {(): "any", ("#", "messages"): "first"}, opened, closed, EVERY_STEP)


def _native() -> Growing:
    """A request comes with the turn that it has seen, and cites by ids: positions are others in each line."""

    def change(lines: Any) -> None:
        for line in lines:
            for cited in (cited for asked in line["requests"] for cited in asked["evidence"]):
                if isinstance(cited["session"], int):
                    cited.update({"session": f"{line['history_id']}-{cited['session']}", "turn": f"t{cited['turn']}"})

    def closed(lines: Any) -> Any:
        for line in lines:
            here = [(told["session_id"], turn["turn_id"]) for told in line["sessions"] for turn in told["turns"]]
            line["requests"] = [asked for asked in line["requests"] if tuple(asked["seen"].values()) in here]
        return lines

    lists: dict[Pattern, Way] = {(): "any", ("#", "sessions"): "any", ("#", "sessions", "#", "turns"): "any"}
    return Growing(_changed("native", change), lists, closed=closed)


def _steps(messages: list[Any], observes: Callable[[Any], bool]) -> list[list[Any]]:
    """A log as it grows: an action comes with what was observed of it."""
    steps: list[list[Any]] = []
    for message in messages:
        if not observes(message):
            steps.append([])
        steps[-1].append(message)
    return steps


def _flat(steps: list[list[Any]]) -> list[Any]:
    return [message for step in steps for message in step]


def _mini_swe_agent() -> Growing:
    def observes(message: Any) -> bool:
        return "returncode" in message.get("extra", {})

    return Growing(
        SOURCES["mini-swe-agent"],
        {("messages",): "first"},
        lambda run: run | {"messages": _steps(run["messages"], observes)},
        lambda run: run | {"messages": _flat(run["messages"])},
        EVERY_STEP,
    )


def _openhands_lines() -> Growing:
    def observes(event: Any) -> bool:
        return event["kind"] == "ObservationEvent"

    return Growing(
        SOURCES["openhands-lines"],
        {(): "any", ("#", "history"): "first"},
        lambda lines: [run | {"history": _steps(run["history"], observes)} for run in lines],
        lambda lines: [run | {"history": _flat(run["history"])} for run in lines],
        EVERY_STEP,
    )


GROWING: dict[str, Growing] = {
    "chatgpt": _chatgpt(),
    "evermemos": Growing(SOURCES["evermemos"], {("conversation_list",): "any"}, options=EVERY_STEP),
    "letta": _letta(),
    "locomo": _dialogue("locomo", "#", "conversation"),
    "longmemeval": _longmemeval(),
    "memsim": _memsim(),
    "mini-swe-agent": _mini_swe_agent(),
    "native": _native(),
    "openai-chat": _openai_chat(),
    "openhands": Growing(
        SOURCES["openhands"],
        {(): "first"},
        lambda events: _steps(events, lambda event: event.get("observation") == "run"),
        _flat,
        EVERY_STEP,
    ),
    "openhands-lines": _openhands_lines(),
    "realtalk": _dialogue("realtalk"),
    "sharegpt": Growing(SOURCES["sharegpt"], {(): "any", ("#", "conversations"): "first"}, options=EVERY_STEP),
    "swe-agent": Growing(SOURCES["swe-agent"], {("trajectory",): "first"}, options=EVERY_STEP),
}
"""A source of every format. Of logs every step is asked for: the last of one night is not the last of all."""
