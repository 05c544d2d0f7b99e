"""Tags: the coarse kinds of what is told, and the words that say so."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from pipeline.ingest.steps import ACTION
from pipeline.records.details import detail

MOST = 5
"""The most tags of a record."""

_OF_CHAT = {
    "work": "job work boss office career interview colleague coworker company business client salary project meeting",
    "travel": "trip travel flight hotel vacation visit airport tour roadtrip passport camping hike hiking beach",
    "health": "doctor health hospital therapy medicine allergy allergic diet gym workout exercise pain sick injury",
    "family": "family mom dad mother father sister brother son daughter kid kids child husband wife parent baby",
    "food": "food dinner lunch breakfast recipe cook cooking restaurant cake eat coffee meal bake baking pizza",
    "home": "house home apartment rent garden furniture kitchen move moved neighborhood",
    "pets": "dog cat pet puppy kitten shelter",
    "study": "school class course university college exam degree student study teacher learn",
    "money": "money budget bank loan price buy bought cost invest fund funding donation tax",
    "sport": "game team match soccer football basketball tennis run race marathon yoga swimming",
    "art": "art paint painting music concert dance dancing book read movie film photo guitar pottery poem",
    "people": "wedding party birthday friend date relationship married anniversary club festival",
    "plan": "plan planning tomorrow next upcoming schedule soon",
    "tech": "code app software computer laptop phone website server data python program",
}
_OF_ACTIONS = {
    "edit": r"^\$ (?:edit|insert|sed -i|apply_patch|str_replace_\w+ .*command=(?:str_replace|create|insert)|patch|write"
    r"|create)\b|^\$ cat <<|^\$ .*(?<![0-9&>])>{1,2} ?[\w./]",
    "test": r"^\$ .*(?:pytest|unittest|tox|npm test|cargo test|go test|reproduce|test_\w+\.py)",
    "search": r"^\$ .*(?:grep|find|rg|ag|search_\w+|find_file|search)\b",
    "read": r"^\$ (?:cat|open|head|tail|less|goto|scroll_\w+|ls|view|sed -n|str_replace_\w+ .*command=view)\b",
    "install": r"^\$ .*(?:pip3? install|apt(?:-get)? install|npm install|conda)\b",
    "git": r"^\$ .*\bgit ",
    "web": r"https?://|^\$ (?:browse|goto_url|curl|wget)\b",
    "submit": r"^\$ .*(?:submit|finish|complete_task|COMPLETE_TASK)",
}
_ACTIONS = {tag: re.compile(words, re.IGNORECASE | re.MULTILINE) for tag, words in _OF_ACTIONS.items()}
_ERROR = re.compile(
    r"error|exception|traceback|failed|failure|fatal|not found|no such file|denied|exit code [1-9]", re.IGNORECASE
)
_TAG_OF_WORD = {
    detail(form).key: tag for tag, words in _OF_CHAT.items() for word in words.split() for form in (word, f"{word}s")
}


def tags_of_chat(words: Mapping[str, int]) -> tuple[str, ...]:
    """The tags that most words speak for. `words`: how often each was said, by its key (detail)."""
    counts: Counter[str] = Counter()
    for word in words.keys() & _TAG_OF_WORD.keys():
        counts[_TAG_OF_WORD[word]] += words[word]
    ranked = sorted(counts, key=lambda tag: (-counts[tag], tag))
    return tuple(ranked[:MOST])


def tags_of_steps(texts: Iterable[str]) -> tuple[str, ...]:
    """The tags of steps, by what was done in them, most steps first."""
    counts: Counter[str] = Counter()
    for text in texts:
        actions = "\n".join(line for line in text.split("\n") if line.startswith(ACTION))
        counts.update(tag for tag, words in _ACTIONS.items() if words.search(actions))
        counts["error"] += _ERROR.search(text) is not None
    return tuple(sorted(+counts, key=lambda tag: (-counts[tag], tag))[:MOST])
