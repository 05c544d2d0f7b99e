"""What an event of OpenHands says was done, and why; and what an event of V1 says came of it."""

from __future__ import annotations

from typing import Any

from pipeline.ingest.messages import MessageError, content_text
from pipeline.ingest.steps import call_text, tool_call_text

_OF_THE_MACHINERY = frozenset(
    ("thought", "confirmation_state", "security_risk", "blocking", "hidden", "impl_source", "keep_prompt", "kind")
)
_OBSERVED = ("content", "output", "text", "message", "error")


def action_v0(action: str, args: dict[str, Any], event: dict[str, Any]) -> tuple[str, str]:
    """Thought and call of an event with an `action`. Raises MessageError."""
    thought = content_text(args.get("thought"))
    if action == "think":
        return thought, ""
    if action == "finish":
        return thought or content_text(args.get("final_thought") or event.get("message")), action
    lone = {"run": "command", "run_ipython": "code"}.get(action)
    if lone is not None and isinstance(args.get(lone), str):
        return thought, args[lone]
    called = _called(event)
    if called is not None:
        return thought, tool_call_text(called)
    return thought, call_text(action, {key: value for key, value in args.items() if key not in _OF_THE_MACHINERY})


def action_v1(event: dict[str, Any]) -> tuple[str, str]:
    """Thought and call of an ActionEvent; the call as the model wrote it where it could not be run.

    Raises MessageError.
    """
    thought = content_text(event.get("thought")) or content_text(event.get("reasoning_content"))
    action, name = event.get("action"), event.get("tool_name")
    if action is None and isinstance(event.get("tool_call"), dict):
        return thought, tool_call_text(event["tool_call"])
    if not isinstance(action, dict):
        raise MessageError("the event has neither an action nor a tool_call")
    arguments = {key: value for key, value in action.items() if key not in ("kind", "security_risk")}
    if name == "finish" and isinstance(arguments.get("message"), str):
        said = arguments["message"]
        return said if not thought.strip() else f"{thought.rstrip()}\n\n{said}", "finish"
    if name == "think" and isinstance(arguments.get("thought"), str):
        return "\n\n".join(text for text in (thought, arguments["thought"]) if text.strip()), ""
    return thought, call_text(name if isinstance(name, str) else str(action.get("kind") or "action"), arguments)


def observation_v1(event: dict[str, Any]) -> str:
    """What an event of V1 says came of an action. Raises MessageError."""
    for key in ("rejection_reason", "error"):
        if event.get(key) is not None:
            return content_text(event[key])
    observation = event.get("observation")
    if not isinstance(observation, dict):
        return content_text(observation)
    if event.get("tool_name") in ("finish", "think"):
        return ""  # it repeats the action, or says that it was noted
    texts = (content_text(observation.get(key)) for key in _OBSERVED)
    return next((text for text in texts if text.strip()), "")


def _called(event: dict[str, Any]) -> dict[str, Any] | None:
    """The tool call behind an event of V0, from the model's answer that comes with it."""
    metadata = event.get("tool_call_metadata")
    if not isinstance(metadata, dict):
        return None
    answer = metadata.get("model_response")
    choices = answer.get("choices") if isinstance(answer, dict) else None
    for choice in choices if isinstance(choices, list) else []:
        message = choice.get("message") if isinstance(choice, dict) else None
        calls = message.get("tool_calls") if isinstance(message, dict) else None
        for call in calls if isinstance(calls, list) else []:
            if isinstance(call, dict) and call.get("id") == metadata.get("tool_call_id"):
                return call
    return None
