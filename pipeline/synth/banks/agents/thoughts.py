"""What agents think: templates by what they are about to do. They name a subject, never the detail that is used."""

from __future__ import annotations

NEXT = (
    "(Next|After this) I (will|should) {hint}.",
    "Then: {hint}.",
    "(Now|With that done,) (back to an earlier point|one open point): {hint}.",
    "I (still|also) (have|need) to {hint}.",
    "TODO: {hint}.",
)

THOUGHTS = {
    "survey": (
        "(Let me|I will) (look around|get an overview) first.",
        "(First|To begin with), what is here?",
        "Let me see how this is laid out.",
    ),
    "search": (
        "Where is this (used|mentioned)?",
        "(Let me|I'll) search for it.",
        "I need (all|the) places that (touch|mention) the {subject}.",
        "A search should (tell|show) who (calls|uses) this.",
    ),
    "open": (
        "(Let me|I'll) (read|look at|open) the {subject} (code|part).",
        "I need to (see|understand) how the {subject} works.",
        "The {subject} (file|module) (may|might) (explain|tell) (this|it).",
    ),
    "look": (
        "(Let me|I'll) look (into|at) the {subject}.",
        "What is in the {subject}?",
        "The {subject} (may|might) (explain|tell) (this|it).",
    ),
    "reopen": (
        "I (saw|read) this (before|earlier), but I need the exact (lines|code) of the {subject} again.",
        "Back to the {subject}: (let me|I'll) look at that place again.",
        "(Earlier I saw|There was) something about the {subject} that (matters|is relevant) here.",
    ),
    "test": (
        "(Let me|I'll) run the tests.",
        "(Let us|Let me) see what (fails|the tests say).",
        "Time to (check|see) whether (anything|something) broke.",
    ),
    "rerun": (
        "(Let me|I'll) run only the {subject} test that failed (before|earlier).",
        "Does the {subject} test pass now?",
        "Check the earlier {subject} failure (again|once more).",
    ),
    "edit": (
        "I will (change|fix) the {subject} (function|code).",
        "The {subject} (case|path) (needs|wants) a guard.",
        "This is the (place|spot): (fix|change) the {subject} handling.",
    ),
    "retry": (
        "That (did not work|failed). (Let me|I'll) try (again|it differently).",
        "(Hm, an|An) error. (Let me correct that|Once more, with the right value).",
        "That was wrong; (again|retry).",
    ),
    "history": (
        "(What|Which) (changed|commits) (lately|recently)?",
        "The history (may|might) tell when this (broke|began).",
    ),
    "commit": (
        "(Let me|I'll) look at the commit about the {subject}.",
        "One of the commits (seen|listed) (before|earlier) touches the {subject}.",
    ),
    "config": (
        "(Which|What) settings are there?",
        "(Let me|I'll) read the configuration.",
        "The {subject} settings matter here.",
    ),
    "log": (
        "The log (may|should) tell more.",
        "(Let me|I'll) read the log.",
        "What did the last run (say|print)?",
    ),
    "note": (
        "(Let me|I'll) write down what I know.",
        "A note of this for (the end|later).",
        "(Record|Keep) the findings so far.",
    ),
    "reproduce": (
        "(Let me|I'll) reproduce the {subject} problem with a (small|short) script.",
        "A script that calls the {subject} code with that value.",
    ),
    "finish": (
        "(Everything|All) is done; (wrap up|finish).",
        "(Let me|I'll) finish (up|here).",
    ),
    "login": (
        "I need a token for {subject}.",
        "(Log|Sign) in to {subject} (first|now).",
        "The token of {subject} (has expired|is no longer valid); log in again.",
    ),
    "docs": (
        "What (arguments|parameters) does this take?",
        "(Let me|I'll) read the documentation of that API (first|before I call it).",
    ),
    "page": (
        "(Let me|I'll) read the next page of the {subject}.",
        "(More|Further) {subject}.",
        "Go on with the {subject}.",
    ),
    "deed": (
        "Now (act on|deal with|do) the {subject} as (asked|the task says).",
        "The {subject} (comes next|is next).",
        "(Let me|I'll) (handle|take care of) the {subject}.",
    ),
    "measure": (
        "(Let me|I'll) (compute|check) the numbers of the {subject}.",
        "How does the {subject} look?",
        "Some statistics of the {subject}.",
    ),
    "check": (
        "Does this agree with what I saw (before|earlier) of the {subject}?",
        "Compare the {subject} with the earlier (number|output).",
    ),
    "join": (
        "(Join|Combine) the {subject} with the other table.",
        "Both tables (share|have) a key; (join|merge) them.",
    ),
}
