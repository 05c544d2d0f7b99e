"""What `slatemill doctor` says of the language models that a profile names."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from jobs.config import load_profile
from jobs.doctor import llms
from jobs.doctor.checks import checks_for
from models.llm.options import LlmOptions

pytestmark = pytest.mark.flash

SERVER = LlmOptions(model="m", engine="endpoint", url="http://user:secret@host/v1", key_variable="SOME_KEY")


def installed(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    monkeypatch.setattr(llms, "find_spec", lambda name: SimpleNamespace() if name in packages else None)


def test_a_model_for_vllm_needs_vllm_and_a_folder(monkeypatch):
    installed(monkeypatch)
    assert llms.language_model(LlmOptions(model="m")).to_do == "pip install 'slatemill[vllm]'"
    installed(monkeypatch, "vllm")
    lacking = llms.language_model(LlmOptions(model="some/model"))
    assert (lacking.state, lacking.to_do) == ("fails", "slatemill models fetch some/model")
    found = llms.language_model(LlmOptions(model="all-MiniLM-L6-v2"))
    assert (found.state, found.said.split(",")[0]) == ("ok", "all-MiniLM-L6-v2: package")


def test_a_server_needs_a_client_and_its_key_is_named_and_not_shown(monkeypatch):
    installed(monkeypatch)
    assert llms.language_model(SERVER).to_do == "pip install 'slatemill[endpoint]'"
    installed(monkeypatch, "openai")
    without = llms.language_model(SERVER)
    assert (without.state, without.to_do) == ("warning", "set SOME_KEY where the server wants one")
    monkeypatch.setenv("SOME_KEY", "sk-very-secret")
    found = llms.language_model(SERVER)
    assert found.state == "ok"
    assert "secret" not in found.said


def test_each_model_that_a_profile_names_has_a_check_and_others_have_none():
    profile = load_profile("lexical")
    assert not {"writer", "reader"} & {check.name for check in checks_for(profile, None)}
    naming = profile.model_copy(update={"reader": SERVER, "judge": SERVER})
    assert {"reader", "judge"} <= {check.name for check in checks_for(naming, None) if check.needed}
