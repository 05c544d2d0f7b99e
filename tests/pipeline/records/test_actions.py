"""Steps taken apart: an action in a line, and what came of it, with the line that says what went wrong kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.records.actions import Done, action_line, observed, step

pytestmark = pytest.mark.flash

TRACEBACK = """Traceback (most recent call last):
  File "/app/src/main.py", line 3, in <module>
    load("a")
KeyError: 'missing_key'"""
LISTING = """total 8
drwxr-xr-x 2 root root 4096 Jul 17 01:31 .
-rw-r--r-- 1 root root 24 Jul 17 01:31 a.py
-rw-r--r-- 1 root root 24 Jul 17 01:31 b.py"""
LONG = "\n".join(f"{number}: some line of a file with an error word" for number in range(900))


def test_a_step_is_a_thought_and_what_was_done() -> None:
    found = step("Look first.\n\n$ ls\n=>\na.py\n\n$ python a.py\n=>\n8.2")
    assert found.thought == "Look first."
    assert found.done == (Done("ls", "a.py"), Done("python a.py", "8.2"))


def test_an_action_of_which_nothing_came_and_an_outcome_alone_stand() -> None:
    assert step("$ ls\n\n$ pwd").done == (Done("ls", ""), Done("pwd", ""))
    assert step("=>\n8.2").done == (Done("", "8.2"),)
    assert step("only a thought").done == ()


@pytest.mark.parametrize(
    ("action", "line"),
    [
        ("cd /testbed && python -m pytest tests/test_a.py", "python -m pytest tests/test_a.py"),
        ("str_replace_editor command=view path=/repo/a.py", "str_replace_editor view /repo/a.py"),
        ("cat <<'EOF' > new.py\nimport os\nEOF", "cat > new.py"),
        ("edit 10:12\nreturn os.path.join(a)\nend_of_edit", "edit 10:12"),
        (
            'token = apis.spotify.login(user="a")["token"]\nprint(apis.spotify.show_library(token=token))',
            'apis.spotify.login(user="a")["token"], apis.spotify.show_library',
        ),
        ("# count them\nx = 1", "x = 1"),
        ("print(apis.supervisor.show_profile())", "apis.supervisor.show_profile()"),
        ("", ""),
    ],
)
def test_an_action_in_a_line(action: str, line: str) -> None:
    assert action_line(action) == line


@pytest.mark.parametrize(
    ("output", "outcome"),
    [
        (TRACEBACK, "KeyError: 'missing_key'"),
        ("cat: /a/b.py: No such file or directory", "cat: /a/b.py: No such file or directory"),
        ("<returncode>2</returncode>\n<output>\n</output>", "exit 2"),
        (
            "<returncode>1</returncode>\n<output>\nbash: foo: command not found\n</output>",
            "exit 1, bash: foo: command not found",
        ),
        ("Your command ran successfully and did not produce any output.", "no output"),
        ("", "no output"),
        (
            "....F\nE   ValueError: bad\n=== 1 failed, 4 passed in 0.2s ===",
            "E   ValueError: bad, 1 failed, 4 passed in 0.2s",
        ),
        (
            LISTING,
            "3 lines: a.py b.py",
        ),
        ("8.2\n(Open file: /a.py)\n(Current directory: /)\nbash-$", "8.2"),
        ("- E999 IndentationError: unexpected indent", "- E999 IndentationError: unexpected indent"),
        ("Done, 0 errors", "Done, 0 errors"),
        (
            'Traceback:\n  File "x"\nException: status 422:\n{"message": "bad"}',
            'Exception: status 422: {"message": "bad"}',
        ),
        (
            '[\n {\n  "name": "spotify",\n  "password": "zT4"\n }\n]',
            '6 lines: "name": "spotify", "password": "zT4" } ]',
        ),
        (LONG, "900 lines: 0: some line of a file with an error word"),
    ],
)
def test_what_came_of_it_in_a_line(output: str, outcome: str) -> None:
    assert observed(output).outcome == outcome


def test_the_line_that_went_wrong_is_verbatim() -> None:
    assert observed(TRACEBACK).error == "KeyError: 'missing_key'"
    assert observed("all fine").error == ""


@given(
    st.lists(st.sampled_from(["$ ls", "=>", "a: Error b", "", "$ ", "exit code 1", "\tx = f.g(", "日本"]), max_size=9)
)
def test_any_text_can_be_taken_apart(lines: list[str]) -> None:
    for done in step("\n".join(lines)).done:
        assert "\n" not in done.action + done.outcome


def test_a_key_that_sounds_like_an_error_is_none():
    shown = 'api_name: "show"\n{\n "success": {\n  "a": 1\n },\n "failure": {\n  "message": "string"\n }\n}'
    assert observed(shown).error == ""
    assert "failure: no such note" in observed(shown + "\nfailure: no such note").outcome
