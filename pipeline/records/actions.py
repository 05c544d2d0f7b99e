"""The steps of an agent taken apart: what it thought, what it did, and what came of that, each in a line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from pipeline.ingest.steps import ACTION, BLOCK, OBSERVATION

_MOVE = re.compile(r"^cd [^&;|\n]{1,200} ?(?:&&|;) ?(?=\S)")
_DOTTED_CALL = re.compile(r"(?<![\w.])[A-Za-z_]\w{0,60}(?:\.\w{1,60}){1,6}\(")
_IDLE_LINE = re.compile(r"\s*(?:#|//|import |from \S+ import |\"\"\"|'''|$)")
_CODE = re.compile(
    r"[\w.\[\]\"', ]{1,80} [+-]?= |[A-Za-z_][\w.]{0,80}\("
    r"|(?:import|from|for|if|def|class|with|try|while|#|@|\"\"\")[ :\w]"
)
_KEY = re.compile(r"(?<=\s)(?:command|cmd|path|file_path|code|query|thought|content|url|name|filename|action)=")
_HEREDOC = re.compile(r"<<-?\s*['\"]?\w+['\"]?")
_SILENT = re.compile(
    r"your (?:command|last command) ran (?:successfully and|and) (?:did not|didn't) produce any output"
    r"|^(?:none|null|ok|\(no output\)|success)\.?$|no output",
    re.IGNORECASE,
)
_EXIT = re.compile(
    r"(?:<returncode>|exit code:?|exit status:?|returncode:?|exited with(?: code)?)\s*(-?\d{1,5})", re.IGNORECASE
)
_RAISED = re.compile(
    r"\s*(?:- |E[ \d]{1,8} ?){0,2}(?:[A-Za-z_]\w{0,60}\.){0,6}"
    r"(?:[A-Z]\w{0,60}(?:Error|Exit|Interrupt|Warning|NotFound)|(?:[A-Z]\w{0,60})?Exception)(?!\w)"
)
_FAILED = re.compile(
    r"(?<![\w/.-])(?:errors?|fatal|failed|failure|exception|not found|no such|denied|cannot|can't|unable|invalid"
    r"|unknown|undefined|unrecognized|unexpected|refused|timed? ?out|does not exist|did not|traceback|E\d{3})"
    r"(?![\w/.-])",
    re.IGNORECASE,
)
_HARMLESS = re.compile(
    r"(?<!\w)(?:0|no) (?:errors?|failures|failed)(?!\w)|^\s*(?:def|class|raise|except|#|\d+[:|\s])|^\+"
    r"|^\s*[\"'][\w -]{1,40}[\"']: ?[\[{]$",
    re.IGNORECASE,
)
_TESTS = re.compile(r"(?<!\w)\d+ (?:passed|failed|errors?|skipped)(?!\w)|^(?:OK|FAILED)(?: \(|$)|^Ran \d+ tests")
_DRESS = re.compile(
    r"\s*(?:</?(?:output|returncode|stdout|stderr|error|warning|result|observation)[^>\n]{0,40}>|[=\-_*#~+.\s]{3,}$"
    r"|observation:|output:|execution result of \[[^\]\n]{0,40}\]:?|\((?:open file|current directory)[^\n]*|bash-\$$"
    r"|\[(?:the )?(?:current working directory|python interpreter|command (?:finished|completed))[^\n]*"
    r"|total \d+$|#!.*)",
    re.IGNORECASE,
)
"""What tools put around what they say, and lines that say nothing."""
_LISTED = re.compile(r"[-dlcbps][rwxsStT-]{9}\S?\s.{5,80}\s(?:\d\d:\d\d|\d{4})\s(?=\S)")
"""What `ls -l` puts before a name."""
_LONGEST_LINE = 400
_MOST_LINES = 400
_NAMES = 9
_OPENING = re.compile(r"[\[{(\s]{1,9}")
_PRINTED = re.compile(r"print\((.+)\)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Done:
    """One thing that was done. `error`: that line of the outcome, verbatim, which says what went wrong."""

    action: str
    outcome: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """What a turn of an agent holds: a thought, and what was done, in order."""

    thought: str
    done: tuple[Done, ...]


def step(text: str) -> Step:
    """A step of its text, as pipeline.ingest.steps writes it; part of a long one may begin with what came of it."""
    borders = [match.start() for match in BLOCK.finditer(text)] + [len(text)]
    done: list[Done] = []
    action: str | None = None
    for start, end in pairwise(borders):
        block = text[start:end]
        if block.startswith(ACTION):
            if action is not None:
                done.append(Done(action, ""))
            action = action_line(block.removeprefix(ACTION))
        else:
            done.append(_done(action or "", block.removeprefix(OBSERVATION)))
            action = None
    if action is not None:
        done.append(Done(action, ""))
    return Step(text[: borders[0]].strip(), tuple(done))


def observed(text: str) -> Done:
    """A turn that is all outcome: of a tool, or the middle of a long step."""
    return _done("", text)


def action_line(action: str) -> str:
    """What an action does, in a line: the command or tool with its arguments, or the calls that a script makes."""
    lines = [line for line in action[: _LONGEST_LINE * 20].splitlines() if line.strip()]
    if not lines:
        return ""
    first = lines[0]
    if len(lines) > 1 and not _HEREDOC.search(first):
        calls = dict.fromkeys(call[:-1] for line in lines for call in _DOTTED_CALL.findall(line[:_LONGEST_LINE]))
        if calls and _is_code(lines):
            return _calls(lines, list(calls))
        first = next((line for line in lines if not _IDLE_LINE.match(line)), first)
    first = _HEREDOC.sub("", _KEY.sub("", first[:_LONGEST_LINE]))
    while (move := _MOVE.match(first)) is not None:
        first = first[move.end() :]
    printed = _PRINTED.fullmatch(first)
    return " ".join((printed[1] if printed is not None else first).split())


def _is_code(lines: list[str]) -> bool:
    """Whether these are lines of a script and no command or tool with long arguments below it."""
    return _CODE.match(lines[0]) is not None


def _calls(lines: list[str], calls: list[str]) -> str:
    """The first call with its arguments, and the names of the others."""
    line = next(line for line in lines if calls[0] + "(" in line)
    shown = line[line.index(calls[0]) :][:_LONGEST_LINE].strip()
    shown = shown.removesuffix(")") if shown.count(")") > shown.count("(") else shown
    return ", ".join([shown, *calls[1:4]])


def _done(action: str, output: str) -> Done:
    lines, n_lines = _lines(output)
    exit_code = next((found[1] for line in output[-200:].splitlines() if (found := _EXIT.search(line))), None)
    exit_code = exit_code or next(
        (found[1] for line in output[:80].splitlines() if (found := _EXIT.search(line))), None
    )
    code = f"exit {exit_code}" if exit_code not in (None, "0") else ""
    if not lines or (len(lines) == 1 and _SILENT.search(lines[0])):
        return Done(action, code or "no output")
    tests = next((line for line in reversed(lines[-8:]) if _TESTS.search(line)), "")
    error = _error(lines)
    if error or tests:
        summary = _stripped(tests).strip("= ")
        told = _stripped(error) + _continued(error, lines)
        return Done(action, ", ".join(part for part in (code, told, summary) if part), error.strip())
    count = f"{n_lines} lines: " if n_lines > 1 else ""
    return Done(action, (f"{code}, " if code else "") + count + _gist(lines))


def _continued(error: str, lines: list[str]) -> str:
    """The line behind an error's that ends with a colon."""
    following = lines.index(error) + 1 if error.rstrip().endswith(":") else len(lines)
    return f" {_stripped(lines[following])}" if following < len(lines) else ""


def _gist(lines: list[str]) -> str:
    """The first line; of a list of names the first names; of data that is laid out over lines, its beginning."""
    if _OPENING.fullmatch(_stripped(lines[0])):
        return " ".join(map(_stripped, lines[:_NAMES])).lstrip("[{( ")
    names = [name for line in lines[:_NAMES] if (name := _name(line)) not in (".", "..")]
    if len(names) > 1 and not any(" " in name for name in names):
        return " ".join(names)
    return names[0] if names else ""


def _name(line: str) -> str:
    """The line, or the name that stands in it where it is one of `ls -l`."""
    listed = _LISTED.match(line.strip())
    return line.strip()[listed.end() :] if listed is not None else _stripped(line)


def _lines(output: str) -> tuple[list[str], int]:
    """The lines of an output that say something, of a long one the first and the last; and how many there are."""
    full = [line for line in output.splitlines() if line.strip()]
    lines = full
    if len(full) > _MOST_LINES:
        lines = full[: _MOST_LINES // 2] + full[-_MOST_LINES // 2 :]
    bare = [line for line in (line[:_LONGEST_LINE] for line in lines) if _stripped(line)]
    telling = [line for line in bare if len(line) >= 40 or not _EXIT.search(line)]
    return telling, len(full) - len(lines) + len(telling)


def _stripped(line: str) -> str:
    while (dress := _DRESS.match(line)) is not None and dress.end():
        line = line[dress.end() :]
    return line.replace("</output>", "").strip().rstrip(".")


def _error(lines: list[str]) -> str:
    """The line that says what went wrong: the last exception raised, else the first that sounds like it."""
    raised = next((line for line in reversed(lines) if _RAISED.match(_stripped(line))), None)
    if raised is not None:
        return raised
    few = lines if len(lines) <= 40 else [*lines[:10], *lines[-10:]]  # of a file that is shown, a word says nothing
    return next((line for line in few if _FAILED.search(line) and not _HARMLESS.search(line)), "")
