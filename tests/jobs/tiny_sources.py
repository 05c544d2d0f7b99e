"""A small source of every format, of several histories each: every text holds a word that stands nowhere else.

By its word a text is told wherever it gets to, and whatever is done to the bytes around it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

WHO = ("ada", "bob", "cyd")
"""The histories: no flipped byte turns one into another."""

Path = tuple[Any, ...]
"""Keys and positions that lead to a value of a file."""
Pattern = tuple[str, ...]
"""Keys of a path; `*` is any key, `#` any position of a list."""


@dataclass(frozen=True)
class Tiny:
    """A source: the JSON value of each file by name. Of a file of `lines` the value is the list of its lines.

    `unit` leads to what holds one history, `messages` to what holds one message.
    """

    source_format: str
    files: dict[str, Any]
    unit: Pattern
    messages: tuple[Pattern, ...]
    lines: bool = False

    def payload(self, name: str) -> bytes:
        """The bytes of a file."""
        value = self.files[name]
        if self.lines:
            return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in value).encode()
        return json.dumps(value, ensure_ascii=False, indent=1 if len(name) % 2 else None).encode()

    def message_of(self, path: Path) -> Path | None:
        """The part of a path that leads to a message, None where it leads to none."""
        for pattern in self.messages:
            if len(path) >= len(pattern) and all(map(fits, pattern, path)):
                return path[: len(pattern)]
        return None


def fits(wanted: str, key: Any) -> bool:
    return isinstance(key, int) if wanted == "#" else wanted in ("*", key)


class Words:
    """Words that differ from each other in most letters, the same ones each time."""

    def __init__(self, seed: str) -> None:
        self._dice = random.Random(seed)

    def __call__(self) -> str:
        """The next one."""
        return "zq" + "".join(self._dice.choice("bcdfghjklmnprstvw") for _ in range(10))


def _longmemeval(word: Words) -> Tiny:
    def item(who: str) -> dict[str, Any]:
        said = [[_said(word, at) for at in range(3)] for _ in range(3)]
        said[1][0]["has_answer"] = said[1][1]["has_answer"] = True
        said[1][2]["has_answer"] = False
        return {
            "question_id": who,
            "question_type": "multi-session",
            "question": f"Where is {word()}?",
            "question_date": "2023/05/30 (Tue) 23:40",
            "answer": "Rome",
            "answer_session_ids": [f"answer_{who}"],
            "haystack_session_ids": [f"{who}_one", f"answer_{who}", f"{who}_two"],
            "haystack_dates": [f"2023/05/2{day} (Sat) 02:21" for day in range(3)],
            "haystack_sessions": said,
        }

    return Tiny("longmemeval", {"a.json": [item(who) for who in WHO]}, ("#",), (("#", "haystack_sessions", "#", "#"),))


def _said(word: Words, at: int) -> dict[str, Any]:
    return {"role": "assistant" if at % 2 else "user", "content": f"I keep {word()} in mind"}


def _conversation(word: Words, text: str, **more: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for session in (1, 2, 10):
        found[f"session_{session}"] = [
            {"speaker": "Ann" if at % 2 else "Ben", "dia_id": f"D{session}:{at}", text: f"We saw {word()}", **more}
            for at in (1, 2, 3)
        ]
        found[f"session_{session}"][1]["blip_caption"] = f"a photo of {word()}"
    return found


def _questions(word: Words, *evidence: list[str]) -> list[dict[str, Any]]:
    return [
        {"question": f"What of {word()}?", "answer": 2022, "category": at + 1, "evidence": cited}
        for at, cited in enumerate(evidence)
    ]


def _locomo(word: Words) -> Tiny:
    def item(who: str) -> dict[str, Any]:
        said = _conversation(word, "text")
        dates = {f"{name}_date_time": f"1:56 pm on {len(name)} May, 2023" for name in list(said)}
        return {
            "sample_id": who,
            "conversation": {"speaker_a": "Ann", "speaker_b": "Ben", **said, **dates},
            "qa": _questions(word, ["D1:1"], ["D1:2; D10:03"], ["D2:3", "D10:1"]),
        }

    return Tiny("locomo", {"a.json": [item(who) for who in WHO]}, ("#",), (("#", "conversation", "*", "#"),))


def _realtalk(word: Words) -> Tiny:
    def chat() -> dict[str, Any]:
        said = _conversation(word, "clean_text", date_time="29.12.2023, 00:51:12")
        dates = {f"{name}_date_time": "29.12.2023, 00:51:12" for name in list(said)}
        name = {"speaker_1": "Ann", "speaker_2": "Ben"}
        return {"name": name, **said, **dates, "qa": _questions(word, ["D1:1-D1:2"], ["D10:3."])}

    return Tiny("realtalk", {f"{who}.json": chat() for who in WHO}, (), (("*", "#"),))


def _memsim(word: Words) -> Tiny:
    def trajectory(tid: int) -> dict[str, Any]:
        said = [
            {"mid": at, "message": f"甲 {word()}", "time": f"2024年04月0{1 + at // 2}日 周一 08:1{at}", "place": "上海"}
            for at in range(5)
        ]
        asked = {
            "qid": 0,
            "question": f"什么 {word()}？",
            "answer": "甲",
            "target_step_id": [1, 3],
            "choices": {"A": "甲"},
            "ground_truth": "A",
            "time": "2024年04月09日 周二 08:15",
        }
        return {"tid": tid, "message_list": said, "question_list": [asked]}

    value = {"simple": {"roles": [trajectory(4), trajectory(7)]}, "noisy": {"roles": [trajectory(4)]}}
    return Tiny("memsim", {"a.json": value}, ("*", "*", "#"), (("*", "*", "#", "message_list", "#"),))


def _evermemos(word: Words) -> Tiny:
    def chat() -> dict[str, Any]:
        said = [
            {
                "message_id": f"m{at}",
                "create_time": f"2025-02-0{1 + at // 3}T10:0{at}:00Z",
                "sender": "u",
                "sender_name": "Ann",
                "type": "text",
                "content": f"We saw {word()}",
                "refer_list": [],
            }
            for at in range(6)
        ]
        people = {"u": {"full_name": "Ann", "role": "user", "extra": {"type": "x"}}}
        about = {"scene": "group_chat", "default_timezone": "UTC", "user_details": people}
        return {"version": "1.0.0", "session_meta": about, "conversation_list": said}

    return Tiny("evermemos", {f"{who}.json": chat() for who in WHO}, (), (("conversation_list", "#"),))


def _letta(word: Words) -> Tiny:
    def agent(who: str) -> dict[str, Any]:
        said: list[dict[str, Any]] = [
            {
                "id": f"message-{at}",
                "role": "assistant" if at % 2 else "user",
                "content": [{"type": "text", "text": f"I keep {word()} in mind"}],
                "created_at": f"2025-10-0{1 + at // 2}T22:5{at}:56Z",
            }
            for at in range(5)
        ]
        said[3]["tool_calls"] = [{"id": "c", "function": {"name": "look", "arguments": '{"at": "door"}'}}]
        return {"id": who, "name": f"agent of {who}", "messages": said, "in_context_message_ids": ["message-4"]}

    value = {"agents": [agent(who) for who in WHO], "blocks": [], "tools": [], "metadata": {}}
    return Tiny("letta", {"a.af": value}, ("agents", "#"), (("agents", "#", "messages", "#"),))


def _chatgpt(word: Words) -> Tiny:
    def conversation(name: str, day: int) -> dict[str, Any]:
        nodes: dict[str, Any] = {"root": {"parent": None, "children": ["n0"], "message": None}}
        for at in range(4):
            message = {
                "id": f"{name}-{at}",
                "author": {"role": "assistant" if at % 2 else "user", "name": None},
                "create_time": 1757318400.25 + 10 * day + at,
                "content": {"content_type": "text", "parts": [f"I keep {word()} in mind"]},
                "metadata": {},
                "recipient": "all",
            }
            nodes[f"n{at}"] = {
                "parent": f"n{at - 1}" if at else "root",
                "children": [f"n{at + 1}"] if at < 3 else [],
                "message": message,
            }
        return {
            "conversation_id": name,
            "create_time": 1757318400.25 + 10 * day,
            "current_node": "n3",
            "mapping": nodes,
        }

    files = {f"{who}.json": [conversation(f"{who}-late", 2), conversation(f"{who}-early", 1)] for who in WHO}
    return Tiny("chatgpt", files, (), (("#", "mapping", "*"),))


def _openai_chat(word: Words, lines: bool) -> Tiny:
    def call(who: str, name: str) -> dict[str, Any]:
        said: list[dict[str, Any]] = [
            {"role": "system", "content": f"You are {word()}"},
            {"role": "user", "content": [{"type": "text", "text": f"Look at {word()}"}, {"type": "image_url"}]},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c", "function": {"name": "look", "arguments": f'{{"at": "{word()}"}}'}}],
            },
            {"role": "tool", "tool_call_id": "c", "name": "look", "content": f"It is {word()}"},
            {"role": "user", "content": f"And {word()}?"},
        ]
        reply = {"choices": [{"message": {"role": "assistant", "content": f"So it is {word()}"}}]}
        about = {"user_id": who, "session_id": name, "timestamp": 1757318400.25}
        return {"messages": said, **about, "response": reply}

    value = [call(who, f"{who}-{name}") for name in ("one", "two") for who in WHO]
    patterns = (("#", "messages", "#"), ("#", "response"))
    return Tiny("openai-chat", {"a.jsonl" if lines else "a.json": value}, ("#",), patterns, lines)


def _sharegpt(word: Words) -> Tiny:
    def item(who: str) -> dict[str, Any]:
        said = [{"from": "gpt" if at % 2 else "human", "value": f"I keep {word()} in mind"} for at in range(4)]
        said.append({"from": "function_call", "value": json.dumps({"name": "look", "arguments": {"at": word()}})})
        return {"id": who, "conversations": said}

    return Tiny("sharegpt", {"a.json": [item(who) for who in WHO]}, ("#",), (("#", "conversations", "#"),))


def _native(word: Words) -> Tiny:
    def line(who: str) -> dict[str, Any]:
        sessions = [
            {
                "session_id": f"{who}-{session}",
                "time": f"2023-05-2{session}T02:21:00+02:00",
                "turns": [
                    {"role": "user", "speaker": "Ann", "turn_id": f"t{at}", "text": f"We saw {word()}"}
                    for at in range(3)
                ],
            }
            for session in range(3)
        ]
        asked = [
            {
                "request_id": f"{who}?{at}",
                "text": f"What of {word()}?",
                "asked_at": "2023-06-01T00:00:00",
                "seen": {"session": f"{who}-2", "turn": "t2"},
                "category": at,
                "answer": "Rome",
                "evidence": [{"session": f"{who}-{at}", "turn": "t1"}, {"session": 2, "turn": at}],
            }
            for at in range(2)
        ]
        return {"history_id": who, "sessions": sessions, "requests": asked}

    return Tiny(
        "native", {"a.jsonl": [line(who) for who in WHO]}, ("#",), (("#", "sessions", "#", "turns", "#"),), lines=True
    )


def _swe_agent(word: Words) -> Tiny:
    def run() -> dict[str, Any]:
        prompts = [
            {"role": role, "content": f"Here is {word()}", "agent": "main", "message_type": "observation"}
            for role in ("system", "user")
        ]
        steps = [
            {
                "action": f"look {word()}\n",
                "observation": f"it is {word()}",
                "response": "r",
                "state": '{"open_file": "a.py"}',
                "thought": f"I wonder about {word()}",
                "query": prompts,
            }
            for _ in range(4)
        ]
        return {"environment": "main", "trajectory": steps, "history": prompts, "info": {"exit_status": "submitted"}}

    return Tiny("swe-agent", {f"{who}.traj": run() for who in WHO}, (), (("trajectory", "#"), ("history", "#")))


def _mini_swe_agent(word: Words) -> Tiny:
    def run() -> dict[str, Any]:
        said: list[dict[str, Any]] = [
            {"role": role, "content": f"Here is {word()}", "extra": {"timestamp": 1757318400.25}}
            for role in ("system", "user")
        ]
        for _ in range(3):
            acts = f"I wonder about {word()}\n\n```bash\nlook {word()}\n```"
            said.append({"role": "assistant", "content": acts, "extra": {"actions": [], "cost": 0.1}})
            observed = f"<returncode>0</returncode>\n<output>\n{word()}</output>"
            said.append({"role": "user", "content": observed, "extra": {"returncode": 0}})
        said.append({"role": "exit", "content": ""})
        info = {"mini_version": "2.0", "exit_status": "Submitted", "model_stats": {"api_calls": 3}}
        return {"info": info, "messages": said, "trajectory_format": "mini-swe-agent-1.1"}

    return Tiny("mini-swe-agent", {f"{who}.traj.json": run() for who in WHO}, (), (("messages", "#"),))


def _openhands_events(word: Words) -> Tiny:
    def event(number: int, **more: Any) -> dict[str, Any]:
        return {"id": number, "timestamp": f"2025-01-27T22:44:5{number % 10}.900854", "source": "agent", **more}

    def events() -> list[dict[str, Any]]:
        said = [event(0, action="message", args={"content": f"Fix {word()}"})]
        said[0]["source"] = "user"
        for number in (2, 5, 8):
            args = {"command": f"look {word()}", "thought": f"I wonder about {word()}"}
            said.append(event(number, action="run", args=args))
            said.append(event(number + 1, cause=number, observation="run", content=f"it is {word()}", extras={}))
        return [*said, event(20, observation="agent_state_changed", content="", extras={"agent_state": "finished"})]

    return Tiny("openhands", {f"{who}.json": events() for who in WHO}, (), (("#",),))


def _openhands_lines(word: Words) -> Tiny:
    def text(said: str) -> list[dict[str, str]]:
        return [{"type": "text", "text": said}]

    def event(kind: str, name: str, **more: Any) -> dict[str, Any]:
        return {"kind": kind, "id": name, "timestamp": "2025-01-27T22:44:56", "source": "agent", **more}

    def run(who: str) -> dict[str, Any]:
        asked = event("MessageEvent", "m", llm_message={"role": "user", "content": text(f"Fix {word()}")})
        said = [{**asked, "source": "user"}]
        for at in range(3):
            action = {"kind": "ExecuteBashAction", "command": f"look {word()}"}
            thought = text(f"I wonder about {word()}")
            said.append(event("ActionEvent", f"a{at}", thought=thought, action=action, tool_call_id=f"c{at}"))
            observation = {"kind": "ExecuteBashObservation", "content": text(f"it is {word()}")}
            said.append(
                event("ObservationEvent", f"o{at}", observation=observation, action_id=f"a{at}", tool_call_id=f"c{at}")
            )
        return {"instance_id": who, "history": said, "git_patch": "", "metrics": {}}

    return Tiny("openhands", {"o.jsonl": [run(who) for who in WHO]}, ("#",), (("#", "history", "#"),), lines=True)


_BUILDERS: dict[str, Callable[[Words], Tiny]] = {
    "chatgpt": _chatgpt,
    "evermemos": _evermemos,
    "letta": _letta,
    "locomo": _locomo,
    "longmemeval": _longmemeval,
    "memsim": _memsim,
    "mini-swe-agent": _mini_swe_agent,
    "native": _native,
    "openai-chat": lambda word: _openai_chat(word, lines=True),
    "openai-chat-array": lambda word: _openai_chat(word, lines=False),
    "openhands": _openhands_events,
    "openhands-lines": _openhands_lines,
    "realtalk": _realtalk,
    "sharegpt": _sharegpt,
    "swe-agent": _swe_agent,
}

SOURCES: dict[str, Tiny] = {name: build(Words(name)) for name, build in _BUILDERS.items()}
