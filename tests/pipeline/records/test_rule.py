"""The rule writer: what a record keeps of a chat and of steps, and what holds of any unit."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.records.record import MERGED_WORDS, NOTHING, RECORD_WORDS, Record, UnitText, UnitTurn
from pipeline.records.rule import RuleWriter

pytestmark = pytest.mark.flash

MAY = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
WRITER = RuleWriter()
PARTS = st.sampled_from(
    [
        "I went to Rome yesterday. ",
        "Wow, amazing! ",
        "How are you? ",
        "\n$ python src/a.py --x\n",
        "=>\n",
        "ValueError: bad 'x'\n",
        "昨日、東京に行きました。",
        "เมื่อวานฉันไปเชียงใหม่ ",
        "x" * 400,
        "\x1b[31m",
        "🎉 ",
        "",
        "[a photo of a dog]",
        "next Friday\u2028",
        "0",
    ]
)
TEXT = st.lists(PARTS, max_size=10).map("".join) | st.text(max_size=80)
TURNS = st.lists(
    st.tuples(st.sampled_from(["user", "assistant", "system", "tool"]), st.sampled_from([None, "Ana", "Ben Ng"]), TEXT),
    max_size=12,
).map(lambda turns: tuple(UnitTurn(7 + index, *turn) for index, turn in enumerate(turns)))
UNITS = st.builds(UnitText, st.booleans(), st.none() | st.just(MAY), TURNS)


def chat(*said: tuple[str, str]) -> Record:
    turns = tuple(UnitTurn(index, "user", speaker, text) for index, (speaker, text) in enumerate(said))
    return WRITER.write([UnitText(False, MAY, turns)])[0]


@given(UNITS)
@settings(max_examples=300)
def test_of_any_unit_the_record_is_short_and_its_facts_are_in_its_turns(unit: UnitText) -> None:
    (record,) = WRITER.write([unit])
    assert 0 < len(record.text.split()) <= RECORD_WORDS
    assert record.text.isprintable() or not unit.turns or "\n" not in record.text
    assert len(record.keywords) <= 12
    assert len(record.tags) <= 5
    assert len(record.description.split()) <= 15
    texts = {turn.turn_index: turn.text for turn in unit.turns}
    for fact in record.facts:
        assert fact.turns
        assert all(fact.text in texts[turn] for turn in fact.turns)
        assert (fact.date is None) == (fact.precision is None)


@given(st.lists(UNITS, max_size=4))
@settings(max_examples=50)
def test_a_record_depends_on_its_unit_alone(units: list[UnitText]) -> None:
    assert WRITER.write(units) == [RuleWriter().write([unit])[0] for unit in units]


@given(st.lists(st.lists(TEXT, max_size=6), max_size=3))
@settings(max_examples=50)
def test_a_merged_record_is_short(groups: list[list[str]]) -> None:
    for record in WRITER.merge(groups):
        assert 0 < len(record.text.split()) <= MERGED_WORDS


def test_a_chat_is_told_by_what_its_speakers_did_and_when() -> None:
    record = chat(
        ("Caroline", "Hey Mel! Good to see you! How have you been?"),
        ("Melanie", "Hey Caroline! Good to see you! I'm swamped with the kids & work. What's up with you?"),
        ("Caroline", "I went to a LGBTQ support group yesterday and it was so powerful."),
        ("Melanie", "Wow, that's cool, Caroline! What happened that was so awesome?"),
        ("Caroline", "Thanks, Melanie! That's really sweet. Is this your own painting?"),
        ("Melanie", "Yeah, I painted that lake sunrise last year! It's special to me."),
    )
    assert record.status == "ok"
    assert "Caroline: went to a LGBTQ support group yesterday (2023-05-07)" in record.text
    assert "Melanie: painted that lake sunrise last year (2022)" in record.text
    assert "Good to see you" not in record.text
    group = next(fact for fact in record.facts if "support group" in fact.text)
    assert (group.kind, group.turns, group.date, group.precision) == ("event", (2,), date(2023, 5, 7), "day")
    assert "LGBTQ" in record.keywords


def test_names_numbers_quotes_paths_and_addresses_are_kept_verbatim() -> None:
    record = chat(
        ("Ana", "I stored the backup of 42 GB at /mnt/data/backup_2023.tar.gz on the server."),
        ("Ben", 'I am reading "The Lean Startup" by Eric Ries.'),
        ("Ana", "The docs are at https://example.org/docs/v2 now."),
    )
    for kept in (
        "42 GB",
        "/mnt/data/backup_2023.tar.gz",
        '"The Lean Startup"',
        "Eric Ries",
        "https://example.org/docs/v2",
    ):
        assert kept in record.text


def test_a_long_unit_is_told_from_its_beginning_to_its_end() -> None:
    seen = "with my cousin and we saw the castle."
    text = chat(*[("Ana", f"I visited the old town of Place{100 + number} {seen}") for number in range(51)]).text
    assert {number // 17 for number in range(51) if f"Place{100 + number}" in text} == {0, 1, 2}


def test_a_request_to_an_assistant_is_told() -> None:
    turns = (
        UnitTurn(0, "user", None, "Can you recommend a vegan restaurant near the Sagrada Familia in Barcelona?"),
        UnitTurn(1, "assistant", None, "Sure! Teresa Carles is a popular vegetarian place."),
    )
    (record,) = WRITER.write([UnitText(False, None, turns)])
    assert record.text.startswith("User: Can you recommend a vegan restaurant near the Sagrada Familia in Barcelona")
    assert "Assistant: Teresa Carles" in record.text


def test_greetings_alone_are_nothing_to_tell_and_leave_their_first_words() -> None:
    record = chat(("Ana", "Hi Ben! How are you?"), ("Ben", "Good, thanks!"))
    assert (record.status, record.text, record.facts) == ("nothing", "Ana: Hi Ben! How are you?", ())
    assert chat(("Ana", " "), ("Ben", "\x00")).text == NOTHING
    assert chat().text == NOTHING
    turns = (UnitTurn(0, "user", None, " "), UnitTurn(1, "assistant", None, "\n"))
    assert WRITER.write([UnitText(True, None, turns)])[0].status == "nothing"


@pytest.mark.parametrize(
    "text",
    [
        "昨日、東京の上野動物園に行きました。来週は大阪に出張します。",
        "我上周去了北京，参观了故宫。我对花生过敏。",
        "เมื่อวานฉันไปเชียงใหม่กับครอบครัว",
        "Ich habe gestern in München einen Vertrag bei Siemens unterschrieben.",
        "Я вчера ездил в Москву и встретил Ивана Петрова.",
        "سافرت إلى القاهرة أمس وقابلت أحمد",
    ],
)
def test_other_languages_have_records_too(text: str) -> None:
    record = chat(("Ana", text))
    assert record.status == "ok"
    assert len(record.facts) >= 1
    assert record.keywords


def test_a_text_without_spaces_is_held_to_as_many_words() -> None:
    assert len(chat(("Ana", "今天我们去了一个很大的公园散步。" * 60), ("Ben", "漢" * 5000)).text) <= 2 * RECORD_WORDS


def test_steps_are_told_as_a_trace_with_their_errors_as_facts() -> None:
    turns = (
        UnitTurn(
            3,
            "assistant",
            None,
            'Let me run it.\n\n$ python tests/missing_colon.py\n=>\n  File "x"\nSyntaxError: invalid syntax',
        ),
        UnitTurn(4, "assistant", None, "$ sed -i 's/float$/float:/' tests/missing_colon.py\n=>\n"),
    )
    (record,) = WRITER.write([UnitText(True, None, turns)])
    assert record.text.startswith("python tests/missing_colon.py → SyntaxError: invalid syntax; sed -i ")
    assert [(fact.text, fact.turns) for fact in record.facts] == [("SyntaxError: invalid syntax", (3,))]
    assert "tests/missing_colon.py" in record.keywords
    assert {"edit", "error"} <= set(record.tags)


@pytest.mark.parametrize("agent", [False, True])
@pytest.mark.parametrize("text", ["a", "!", "a.b(", "/a", " [", "$ \n", "=>\n", "漢", "two days ago ", "Error: x\n"])
def test_a_line_without_end_of_anything_is_a_short_record(text: str, agent: bool) -> None:
    turn = UnitTurn(0, "assistant", None, text * (200_000 // len(text)))
    (record,) = WRITER.write([UnitText(agent, MAY, (turn,))])
    assert 0 < len(record.text) < 2_000
