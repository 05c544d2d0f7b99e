"""A history as a run of mini-swe-agent, which `slatemill ingest` tells by its content.

The task is message 0, step s is message 1 + 2s, and its output the message after that: a step is one turn, at the
position of its message. `info.reuses` names the turns so; readers leave it out.
"""

from __future__ import annotations

import json
from typing import Any

from pipeline.synth.agents.step import AgentHistory, Reuse, Step

FORMAT = "mini-swe-agent-1.1"
_PAUSE = 7
"""Seconds between two steps."""


def position(step: int) -> int:
    """The position of the turn of a step."""
    return 1 + 2 * step


def run(history: AgentHistory) -> dict[str, Any]:
    """The object of one run."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": history.task}]
    for number, step in enumerate(history.steps):
        messages += _messages(step, f"call-{number}", history.time + _PAUSE * number)
    return {
        "trajectory_format": FORMAT,
        "instance_id": history.name,
        "info": {"exit_status": "Submitted", "reuses": [_reuse(one) for one in history.reuses]},
        "messages": messages,
    }


def _messages(step: Step, call: str, time: int) -> list[dict[str, Any]]:
    function = {"name": step.tool, "arguments": json.dumps(dict(step.arguments), ensure_ascii=False)}
    return [
        {
            "role": "assistant",
            "content": step.thought or None,
            "tool_calls": [{"id": call, "type": "function", "function": function}],
            "extra": {"timestamp": time},
        },
        {"role": "tool", "tool_call_id": call, "content": step.output},
    ]


def _reuse(one: Reuse) -> dict[str, Any]:
    return {
        "text": one.text,
        "turn": position(one.used),
        "shown": [position(step) for step in one.shown],
        "held": position(one.held),
    }
