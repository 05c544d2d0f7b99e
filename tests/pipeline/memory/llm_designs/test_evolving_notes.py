"""Notes that evolve: links that a model chooses, and what notes are found by from then on."""

from __future__ import annotations

import json
import re

import pytest
from designs_of import Shown, listed
from noted import request
from slate_of import about, memory

from models.interfaces import Answer, Prompt

pytestmark = pytest.mark.flash

TOPICS = ("kites", "lamps", "trains", "ports", "teas", "rains", "winds")
MEMORY = memory(reader_tokens=2000, seeds=1)
NAME = "evolving_notes"


def shown(script, text: str = "Which lamps?", **more) -> Shown:
    return Shown(about(*TOPICS), [request(text)], MEMORY, script, (NAME,), (900,), **more)


def links_to(topic: str, description: str = "of boats in a harbour"):
    """Links each note after that of a topic to that one, and describes it anew."""

    def script(prompt: Prompt) -> str:
        earlier = prompt.user.split("<earlier>")[1]
        at = re.search(rf"^\[(\d)\] [^\n]*was {topic}", earlier, re.MULTILINE)
        linked = [{"note": int(at[1]), "tags": ["Boats"], "description": description}] if at else []
        return json.dumps({"linked": linked})

    return script


def test_each_note_but_the_first_is_asked_with_at_most_five_earlier_ones():
    found = shown(lambda _: '{"linked": []}')
    prompts = [prompt for batch in found.writer.asked for prompt in batch]
    assert [len(listed(prompt)) for prompt in prompts] == [1, 2, 3, 4, 5, 5]
    rows = found.notes.to_pylist()
    assert [row["attempts"] for row in rows] == [0, 1, 1, 1, 1, 1, 1]
    assert {row["status"] for row in rows} == {"ok"}


@pytest.mark.parametrize("with_vectors", [True, False])
def test_a_note_is_found_by_what_a_later_one_has_made_of_it(with_vectors):
    before = shown(lambda _: '{"linked": []}', "boats in the harbour", with_vectors=with_vectors)
    after = shown(links_to("lamps"), "boats in the harbour", with_vectors=with_vectors)
    linked = {each["session_index"] for row in after.notes.to_pylist() for each in row["linked"]}
    assert linked == {1}
    best = [min((i for i in one.row(NAME)["items"]), key=lambda i: i["rank"]) for one in (before, after)]
    assert best[1]["session_index"] == 1
    if not with_vectors:
        assert best[0]["session_index"] != 1


def test_linked_notes_follow_the_best():
    for number in (1, 3, 5):
        answer = json.dumps({"linked": [{"note": number}]})
        found = shown(lambda _, answer=answer: answer, "So what of the winds?", with_vectors=False)
        (linked,) = found.notes.to_pylist()[6]["linked"]
        ranks = {item["session_index"]: item["rank"] for item in found.row(NAME)["items"]}
        assert ranks == {6: 1, linked["session_index"]: 2}


def test_what_an_earlier_note_was_made_is_what_the_next_prompt_tells_of_it():
    found = shown(lambda _: '{"linked": [{"note": 1, "tags": ["Fresh"], "description": "told anew"}]}')
    prompts = [prompt for batch in found.writer.asked for prompt in batch]
    assert "fresh" not in prompts[0].user
    assert all("(tags: fresh; about: told anew)" in prompt.user for prompt in prompts[1:])


def test_a_failed_step_links_nothing_and_the_others_go_on():
    def fails_of_trains(prompt: Prompt) -> str | Answer:
        new = prompt.user.split("</new>")[0]
        return Answer("", "failed", "it broke") if "trains" in new else '{"linked": [{"note": 1}]}'

    found = shown(fails_of_trains)
    rows = found.notes.to_pylist()
    assert [(row["status"], len(row["linked"])) for row in rows] == [
        ("ok", 0), ("ok", 1), ("failed", 0), *[("ok", 1)] * 4
    ]  # fmt: skip
    assert rows[2]["reason"] == "it broke"


def test_what_is_not_told_anew_stays_as_it_was():
    found = shown(lambda _: '{"linked": [{"note": 1}, {"note": 1, "tags": ["x"]}, {"note": 8}, 3]}')
    (linked,) = found.notes.to_pylist()[1]["linked"]
    prompt = found.writer.asked[0][0].user.split("<earlier>")[1]
    assert f"(tags: {', '.join(linked['tags']) or 'none'}; about: {linked['description']})" in prompt
