"""Every command that the README and docs/ name can be parsed, and every link leads to a file that is there."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from cluster import exits
from jobs import cli

sys.path.insert(0, str(Path(__file__).parent))

from pages import FIRST_SLATE, OPERATIONS, README, ROOT, commands

PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]
NAMED = [(page.name, shlex.join(words)) for page in PAGES for words in commands(page)]
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


def check(words: list[str]) -> None:
    """Raises what the command line says of words that it refuses; a command alone is only named, not called."""
    called: Any = get_command(cli.app)
    while hasattr(called, "commands"):
        name, *words = words
        called = called.commands[name]
    if words:
        called.make_context(name, words)


@pytest.mark.flash
@pytest.mark.parametrize(("page", "command"), NAMED)
def test_the_command_can_be_parsed(page, command) -> None:
    check(shlex.split(command))


@pytest.mark.flash
def test_a_command_with_an_option_that_there_is_not_is_refused() -> None:
    with pytest.raises(Exception, match="No such option"):
        check(shlex.split("run lake --profil lexical"))


@pytest.mark.flash
def test_commands_are_found_in_blocks_and_in_prose() -> None:
    assert ["init", "lake"] in commands(FIRST_SLATE)
    assert ["ingest", "lake", "--void"] in commands(OPERATIONS)
    assert all(len(commands(page)) > 4 for page in (README, FIRST_SLATE, OPERATIONS))


@pytest.mark.flash
def test_the_page_about_operations_knows_every_exit_code() -> None:
    told = [int(code) for code in re.findall(r"^\| (\d) \|", OPERATIONS.read_text(), re.MULTILINE)]
    assert told == [exits.DONE, exits.FAILED_SHARDS, exits.NEEDS_BACKFILL, exits.OVER_QUARANTINE]


def with_json(group: Any, above: str = "") -> Iterator[str]:
    """The commands that write JSON, by their words."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from with_json(command, f"{above}{name} ")
        elif any("--json" in option.opts for option in command.params):
            yield f"{above}{name}"


@pytest.mark.flash
def test_the_page_about_operations_names_every_command_that_writes_json() -> None:
    text = OPERATIONS.read_text(encoding="utf-8")
    for_machines = text[text.index("## For machines") : text.index("## Before the first night")]
    written = list(with_json(get_command(cli.app)))
    assert "models card" in written
    left_out = [words for words in written if not re.search(f"`(slatemill )?{words}[` ]", for_machines)]
    assert left_out == []


@pytest.mark.flash
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_that_are_there(page) -> None:
    targets = LINK.findall(page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []
