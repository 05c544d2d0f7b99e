"""Words that say how much a sentence tells, in one place: little, or when, or how many, or that something was done."""

from __future__ import annotations

from functools import cache

from pipeline.recall.languages import ENGLISH
from pipeline.recall.stop_words import STOP_LISTS, stop_words

_OF_CHAT = """
able absolutely accepting actually afternoon agree agreed aim almost along already alright always amazing amount
answer anyone anything anyway appreciate area around ask asking assist assistance away awesome awful aww back bad
based beautiful become becoming believe best bet better big bit blast bring bringing brings btw bunch bye came can't
cannot capture captured caring cause certain certainly challenge challenges challenging chance chat chatted chatting
check cheers cherish come comes comfort coming common community completely confidence congrats congratulations
consider cool could couldn't couple courage crazy currently cute day days deal definitely determined did difference
different does doing don't done doubt dream dreams easy effort else em embrace emotional empathy encourage
encouragement encouraging enjoy enjoyed enjoying enough ensure especially etc even ever every everybody everyone
everything exactly example excited exciting experience experiences express eye fab fact fam fantastic far feel feeling
feelings feels felt find finding fine first focus folks following forward friend friends fulfilling fun future gave
general get gets getting give gives giving glad go goes going gone gonna good gorgeous gosh got gotta grateful
gratitude great greetings grow growing growth guess guide guys ha haha happen happened happening happiness happy hard
have hear heard hearing heart hello help helped helpful helping helps hey hi hmm hold hope hopeful hopefully hoping
how's huge huh idea ideas imagine important impressed impressive include includes including incredible information
inspire inspired inspiring interesting involve it's journey joy just keep keeps key kidding kind kinda kindness know
knowing kudos last lately learn learned learning least left let let's lets life like likely list listen listening
little lively lol long look looked looking looks lot lots love loved lovely loving luck lucky made make makes making
many matter matters may maybe me mean meaningful means memorable memories might mind mine moment moments motivate
motivated motivating motivation much must my nah neat need needed needs nervous never new next nice nope note nothing
notice now number offer oh ok okay old omg one ones open optimistic option options others overall part passion
passionate path peaceful people perfect person photo photos pic pics picture pictures place playful please plenty
point positive powerful pretty prioritizing probably process progress proud provide provides pumped push pushing put
question questions quite rather reach ready real realize really recent recently recommend relax relaxing remember
remind reminder reminds resilience rest reward rewarding right rock said saw say saying says scared see seeing seem
seems seen set several share shared sharing show showed showing shows since small smile someone something sometimes
soon sorry sort sound sounds special specific spend spending spirit spot start started starting stay staying step
still stoked stop story strength stress strong stuck stuff stunning succeed success such suggest suggestions super
support supported supporting supportive sure surely swamped sweet take taken takes taking talk talked talking tell
than thank thankful thanks that's thing things think thinking though thought thrilled time times tips today together
told ton tons too took top totally touched tough tried true truly trust try trying turn turned type understand
understanding unique upbeat uplifting us use used useful using usually various vibe vibes vital wait want wanted
wanting wants watch way ways we'll week well went whatever whenever whole wild wish woah won't wonder wonderful words
work worked working works world worry worth would wow ya yay yeah year years yep yes yet you're you've yup
"""
"""Chat of friends and what assistants pad their answers with. Words of time and kinship are not among them."""

_OF_TIME = """
yesterday tomorrow tonight ago week weekend month year monday tuesday wednesday thursday friday saturday
sunday january february april june july august september october november december summer winter spring autumn
birthday anniversary christmas
"""
_OF_EVENTS = """
accepted adopted allergic applied attended began booked born bought built camped completed created decided died fired
finished gave graduated hired hosted joined launched lost married met moved opened painted passed performed planned
planning quit ran received signed sold started travelled traveled visited volunteered went won wrote
"""
"""Verbs, and few others, that tell what somebody did: that is often asked for later."""
_OF_NUMBERS = """
two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty hundred thousand
million dozen half twice double
"""
_OF_TURNING_ROUND = """
if unless not never no nor without cannot can't couldn't didn't doesn't don't hadn't hasn't haven't isn't wasn't weren't
won't wouldn't
"""

PLAIN = frozenset(_OF_CHAT.split())
"""English words, lower case, that are no stop words and tell little all the same."""
TIMES = frozenset(_OF_TIME.split())
EVENTS = frozenset(_OF_EVENTS.split())
NUMBERS = frozenset(_OF_NUMBERS.split())
TURNS_ROUND = frozenset(_OF_TURNING_ROUND.split())
"""They may turn round what the rest of a sentence says: a clause with one is kept, though it holds nothing."""


@cache
def grammar() -> frozenset[str]:
    """The stop words of English."""
    return frozenset(stop_words(ENGLISH))


@cache
def foreign_grammar() -> frozenset[str]:
    """The stop words of every other language that has a list, less those of English."""
    return frozenset(word for name in STOP_LISTS - {ENGLISH} for word in stop_words(name)) - grammar()
