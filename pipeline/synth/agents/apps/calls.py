"""Calls of made-up apps: as tools, or as code that prints what an API returns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from pipeline.synth.agents.apps.records import Account
from pipeline.synth.agents.chances import hexadecimal, think
from pipeline.synth.agents.step import Step
from pipeline.synth.dice import Dice

_COMMON = ("access_token", "page_index", "page_limit")
EXPIRES = 0.07
"""How often a token is no longer valid."""


class Calls:
    """How one history calls APIs: `as_code` or as tools."""

    def __init__(self, dice: Dice, account: Account) -> None:
        self.dice, self.account = dice, account
        self.as_code = dice.chance(0.5)

    def call(
        self, api: str, arguments: Mapping[str, str | int], answer: Any, thought: str = "", shows: Iterable[str] = ()
    ) -> Step:
        """A call of `app.api` and what it returned, as JSON."""
        told = json.dumps(answer, indent=1, ensure_ascii=False)
        if not self.as_code:
            return Step(thought, api.replace(".", "__"), arguments, told, tuple(shows))
        given = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        return Step(thought, "python", {"code": f"print(apis.{api}({given}))"}, told, tuple(shows))

    def login(self, app: str) -> Step:
        """Signs in: a new token."""
        token = f"token-{app}-{hexadecimal(self.dice, 16)}"
        self.account.tokens[app] = token
        arguments = {"username": self.account.user, "password": self.account.passwords[app]}
        answer = {"access_token": token, "token_type": "Bearer"}
        return self.call(f"{app}.login", arguments, answer, think(self.dice, "login", subject=app), [token])

    def refused(self, api: str, arguments: Mapping[str, str | int], code: int, message: str) -> Step:
        """A call that fails."""
        return self.call(api, arguments, {"status": code, "message": message})

    def docs(self, api: str, arguments: Mapping[str, str | int]) -> Step:
        """The documentation of an API."""
        app, name = api.split(".")
        described = {
            "app_name": app,
            "api_name": name,
            "description": f"{name.replace('_', ' ').capitalize()}.",
            "parameters": [
                {"name": key, "type": "integer" if isinstance(value, int) else "string", "required": True}
                for key, value in arguments.items()
            ],
            "response_schemas": {"success": {"message": "string"}, "failure": {"message": "string"}},
        }
        shows = [key for key in arguments if "_" in key and key not in _COMMON]
        return self.call(
            "api_docs.show_api_doc", {"app_name": app, "api_name": name}, described, think(self.dice, "docs"), shows
        )  # fmt: skip
