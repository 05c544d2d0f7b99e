"""Every table of the lake, one schema each: checked at each read and write.

Times are UTC and nullable; text is `large_string`; vectors are `fixed_size_list<halffloat>` and never null.
A history is named by `history_id`; a turn by `(history_id, session_index, turn_index)`; a request by `request_id`.
What a table holds is said once, beside its schema; `slatemill schema` prints it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import pyarrow as pa

Value = TypeVar("Value", int, Sequence[str])

TEXT = pa.large_string()
TIME = pa.timestamp("us", tz="UTC")

TURN_KEY = ("history_id", "session_index", "turn_index")
UNIT_KEY = ("history_id", "session_index", "unit_index")
REQUEST_KEY = ("history_id", "request_id")


@dataclass(frozen=True)
class TableInfo:
    """What a table holds, and its schema; a table's schema may depend on one `parameter`.

    `dim` is the length of its vectors, `channels` and `features` are names that a profile lists.
    """

    description: str
    schema: pa.Schema | Callable[[Any], pa.Schema]
    parameter: Literal["dim", "channels", "features"] | None = None

    def schema_for(self, value: int | Sequence[str]) -> pa.Schema:
        """The schema, with `value` for its parameter where it has one."""
        return self.schema(value) if callable(self.schema) else self.schema


TABLES: dict[str, TableInfo] = {}
"""Every table by its name, in the order in which data passes through them."""


def _table(name: str, fields: Sequence[pa.Field], description: str) -> pa.Schema:
    """A schema that is known under a name."""
    schema = pa.schema(fields)
    TABLES[name] = TableInfo(" ".join(description.split()), schema)
    return schema


def _table_by(
    parameter: Literal["dim", "channels", "features"],
) -> Callable[[Callable[[Value], pa.Schema]], Callable[[Value], pa.Schema]]:
    """Makes a function of a parameter give a schema known under its name; its docstring says what the table holds."""

    def known(schema: Callable[[Value], pa.Schema]) -> Callable[[Value], pa.Schema]:
        TABLES[schema.__name__] = TableInfo(" ".join((schema.__doc__ or "").split()), schema, parameter)
        return schema

    return known


_KEY_FIELDS = [
    pa.field("history_id", TEXT, nullable=False),
    pa.field("session_index", pa.int64(), nullable=False),
    pa.field("turn_index", pa.int32(), nullable=False),
]
_UNIT_FIELDS = [*_KEY_FIELDS[:2], pa.field("unit_index", pa.int32(), nullable=False)]
_REQUEST_FIELDS = [
    pa.field("request_id", TEXT, nullable=False),
    pa.field("history_id", TEXT, nullable=False),
]
_CANDIDATE_FIELDS = [*_REQUEST_FIELDS, *_KEY_FIELDS[1:]]

TURNS = _table(
    "turns",
    [
        *_KEY_FIELDS,
        pa.field("session_time", TIME),
        pa.field("role", TEXT, nullable=False),
        pa.field("speaker", TEXT),
        pa.field("text", TEXT, nullable=False),
        pa.field("n_tokens", pa.int32(), nullable=False),
    ],
    """One row a turn. `session_index = (seq << 20) + position`; `speaker` is null where the source names only a role;
    `text` is sanitised, with an image's caption appended as ` [caption]`; `n_tokens` counts `text` in o200k.""",
)

SOURCES = _table(
    "sources",
    [
        *_KEY_FIELDS,
        pa.field("source_format", TEXT, nullable=False),
        pa.field("source_session", TEXT),
        pa.field("source_turn", TEXT),
        pa.field("session_key", TEXT, nullable=False),
        pa.field("turn_key", TEXT, nullable=False),
        pa.field("content_digest", TEXT, nullable=False),
        pa.field("continues", pa.int64()),
    ],
    """One row a turn: the source's own names, for joining back. They reach no feature, tie-break, prompt or sort.
    `session_key` and `turn_key` tell a turn that is delivered again; `continues` is the session_index of the first
    part.""",
)

REQUESTS = _table(
    "requests",
    [
        *_REQUEST_FIELDS,
        pa.field("mode", TEXT, nullable=False),
        pa.field("text", TEXT, nullable=False),
        pa.field("asked_at", TIME),
        pa.field("seen_session", pa.int64()),
        pa.field("seen_turn", pa.int32()),
        pa.field("category", TEXT),
        pa.field("answer", TEXT),
        pa.field("adversarial", pa.bool_(), nullable=False),
    ],
    """One row a request. `mode` is `reader` or `agent`; `category` as in the source; `adversarial` marks a request
    whose source says that its history holds no answer (LoCoMo category 5, LongMemEval `_abs`): no part of headline
    figures.""",
)

LABELS = _table(
    "labels",
    _CANDIDATE_FIELDS,
    """One row an evidence turn of a request.""",
)

TERMS = _table(
    "terms",
    [*_KEY_FIELDS, pa.field("terms", pa.large_list(TEXT), nullable=False)],
    """One row a turn: the lexical terms of `speaker: text`, in order, repeats kept. An empty list where there are
    none.""",
)


@_table_by("dim")
def turn_vectors(dim: int) -> pa.Schema:
    """One row a window of a turn: a vector of `dim` values and unit length."""
    return pa.schema(
        [*_KEY_FIELDS, pa.field("window", pa.int32(), nullable=False), pa.field("vector", _vector(dim), nullable=False)]
    )


@_table_by("dim")
def request_vectors(dim: int) -> pa.Schema:
    """One row a request: a vector of `dim` values and unit length."""
    return pa.schema([*_REQUEST_FIELDS, pa.field("vector", _vector(dim), nullable=False)])


TURN_TOKENS = _table(
    "turn_tokens",
    [
        *_KEY_FIELDS,
        pa.field("scales", pa.large_list(pa.field("item", pa.float32(), nullable=False)), nullable=False),
        pa.field("codes", pa.large_binary(), nullable=False),
    ],
    """One row a turn: codes of its token vectors for late interaction. `codes` holds a signed byte for each dimension,
    token after token; token k has `scales[k]` times its bytes for a vector, of about unit length. With the code
    `pooled` one vector stands for about four tokens.""",
)


@_table_by("dim")
def request_tokens(dim: int) -> pa.Schema:
    """One row a token of a request, by position (from 0): the terms of the word that it belongs to (none for a stop
    word or a mark), and a vector of `dim` values and unit length."""
    return pa.schema(
        [
            *_REQUEST_FIELDS,
            pa.field("position", pa.int32(), nullable=False),
            pa.field("terms", pa.large_list(TEXT), nullable=False),
            pa.field("vector", _vector(dim), nullable=False),
        ]
    )


def _vector(dim: int) -> pa.DataType:
    return pa.list_(pa.float16(), dim)


@_table_by("channels")
def pools(channels: Sequence[str]) -> pa.Schema:
    """One row a candidate of a request, by pool_position (from 1). Of each channel, and of each view, that the profile
    names: a score, and a rank (from 1) over all visible turns that it recalled, null for any other and for a request
    that it cannot answer. `age_days` runs from the turn's session to asked_at (to the newest visible session where
    asked_at is null); null without times."""
    scored = [
        field
        for name in channels
        for field in (pa.field(f"{name}_score", pa.float64()), pa.field(f"{name}_rank", pa.int32()))
    ]
    return pa.schema(
        [
            *_CANDIDATE_FIELDS,
            pa.field("pool_position", pa.int32(), nullable=False),
            pa.field("rrf_score", pa.float64(), nullable=False),
            pa.field("age_days", pa.float64()),
            *scored,
        ]
    )


CROSS_SCORES = _table(
    "cross_scores",
    [*_CANDIDATE_FIELDS, pa.field("cross_encoder", pa.float32(), nullable=False)],
    """One row a candidate that the profile's cross-encoder has scored, in pool order: the sigmoid of its score of
    request and turn, from 0 to 1.""",
)


TEACHER_SCORES = _table(
    "teacher_scores",
    [
        *_CANDIDATE_FIELDS,
        pa.field("score", pa.float32()),
        pa.field("status", TEXT, nullable=False),
        pa.field("reason", TEXT, nullable=False),
        pa.field("from_logprobs", pa.bool_(), nullable=False),
    ],
    """One row a candidate that a language model has rated, in pool order: how much the turn helps to answer the
    request, from 0 to 10. `status` is `ok` or `failed`: then `score` is null and `reason` says why. `from_logprobs`:
    the score is the mean over the ratings that the model weighed, else the integer that it said.""",
)


@_table_by("features")
def features(names: Sequence[str]) -> pa.Schema:
    """One row a candidate of a request, in pool order, with the features that the profile names. What is missing is
    null, never zero."""
    return pa.schema(
        [
            *_CANDIDATE_FIELDS,
            pa.field("pool_position", pa.int32(), nullable=False),
            *[pa.field(name, pa.float32()) for name in names if name != "pool_position"],
        ]
    )


UNITS = _table(
    "units",
    [
        *_UNIT_FIELDS,
        pa.field("session_time", TIME),
        pa.field("agent", pa.bool_(), nullable=False),
        pa.field("first_turn", pa.int32(), nullable=False),
        pa.field("start", pa.int32(), nullable=False),
        pa.field("last_turn", pa.int32(), nullable=False),
        pa.field("end", pa.int32(), nullable=False),
        pa.field("n_tokens", pa.int32(), nullable=False),
        pa.field("of_a_long_turn", pa.bool_(), nullable=False),
    ],
    """One row a unit: from character `start` of turn `first_turn` to character `end` (exclusive) of `last_turn`.
    `agent`: its turns are steps of a task; `of_a_long_turn`: it is a part of one turn that is longer than a unit;
    `n_tokens` adds up those of its turns.""",
)

PIECES = _table(
    "pieces",
    [
        *_UNIT_FIELDS,
        pa.field("piece_index", pa.int32(), nullable=False),
        pa.field("turn_index", pa.int32(), nullable=False),
        pa.field("start", pa.int32(), nullable=False),
        pa.field("end", pa.int32(), nullable=False),
        pa.field("n_tokens", pa.int32(), nullable=False),
        pa.field("terms", pa.large_list(TEXT), nullable=False),
    ],
    """One row a piece of a unit: characters `start` to `end` (exclusive) of a turn, their tokens and their lexical
    terms (those of the speaker too, where the piece begins the turn).""",
)

FACT = pa.struct(
    [
        pa.field("kind", TEXT, nullable=False),
        pa.field("text", TEXT, nullable=False),
        pa.field("turns", pa.large_list(pa.int32()), nullable=False),
        pa.field("date", pa.date32()),
        pa.field("precision", TEXT),
    ]
)

_WRITING_FIELDS = [
    pa.field("reason", TEXT, nullable=False),
    pa.field("attempts", pa.int32(), nullable=False),
    pa.field("prompt_tokens", pa.int32(), nullable=False),
    pa.field("completion_tokens", pa.int32(), nullable=False),
]

RECORDS = _table(
    "records",
    [
        *_UNIT_FIELDS,
        pa.field("session_time", TIME),
        pa.field("leaf", pa.int32(), nullable=False),
        pa.field("writer", TEXT, nullable=False),
        pa.field("status", TEXT, nullable=False),
        pa.field("text", TEXT, nullable=False),
        pa.field("keywords", pa.large_list(TEXT), nullable=False),
        pa.field("tags", pa.large_list(TEXT), nullable=False),
        pa.field("description", TEXT, nullable=False),
        pa.field("facts", pa.large_list(FACT), nullable=False),
        pa.field("n_tokens", pa.int32(), nullable=False),
        pa.field("dropped", pa.int32(), nullable=False),
        *_WRITING_FIELDS,
    ],
    """One row a unit that is closed. `leaf` counts the records of a history as they are written, from 0; `n_tokens`
    those of `text`. A fact is a fact, event, preference, plan or update, and cites turns of the unit; its `date` is the
    first day of what `precision` says (day, week, month, year).""",
)

MERGED_RECORDS = _table(
    "merged_records",
    [
        *_KEY_FIELDS[:1],
        pa.field("level", pa.int32(), nullable=False),
        pa.field("node", pa.int32(), nullable=False),
        pa.field("writer", TEXT, nullable=False),
        pa.field("status", TEXT, nullable=False),
        pa.field("text", TEXT, nullable=False),
        pa.field("n_tokens", pa.int32(), nullable=False),
        *_WRITING_FIELDS,
    ],
    """One row a node of the tree over the records of a history: node i of level k stands for the records with leaves
    i * 4**k to (i + 1) * 4**k - 1, and is written once all of them are.""",
)


@_table_by("dim")
def unit_vectors(dim: int) -> pa.Schema:
    """One row a record: a vector of `dim` values and unit length of its text and what it may be found by."""
    return pa.schema(
        [
            *_UNIT_FIELDS,
            pa.field("session_time", TIME),
            pa.field("leaf", pa.int32(), nullable=False),
            pa.field("vector", _vector(dim), nullable=False),
        ]
    )


@_table_by("dim")
def span_vectors(dim: int) -> pa.Schema:
    """One row a span of a unit, of about 150 tokens: it ends at character `end` (exclusive) of turn `last_turn`; a
    vector of `dim` values and unit length. Only compared designs read them."""
    return pa.schema(
        [
            *_UNIT_FIELDS,
            pa.field("last_turn", pa.int32(), nullable=False),
            pa.field("end", pa.int32(), nullable=False),
            pa.field("vector", _vector(dim), nullable=False),
        ]
    )


LINKS = _table(
    "links",
    [
        *_UNIT_FIELDS,
        pa.field("to_session", pa.int64(), nullable=False),
        pa.field("to_unit", pa.int32(), nullable=False),
        pa.field("cosine", pa.float32(), nullable=False),
    ],
    """One row a link from a record to one of the three most like it of units that arrived before and are no later. It
    leads both ways.""",
)

LINKED = pa.struct(
    [
        pa.field("session_index", pa.int64(), nullable=False),
        pa.field("unit_index", pa.int32(), nullable=False),
        pa.field("tags", pa.large_list(TEXT), nullable=False),
        pa.field("description", TEXT, nullable=False),
    ]
)

LLM_NOTES = _table(
    "llm_notes",
    [
        *_UNIT_FIELDS,
        pa.field("policy", TEXT, nullable=False),
        pa.field("budget", pa.int32()),
        pa.field("room", pa.int32()),
        pa.field("prefix", TEXT, nullable=False),
        pa.field("place", pa.int32(), nullable=False),
        pa.field("writer", TEXT, nullable=False),
        pa.field("status", TEXT, nullable=False),
        pa.field("text", TEXT, nullable=False),
        pa.field("n_tokens", pa.int32(), nullable=False),
        pa.field("linked", pa.large_list(LINKED), nullable=False),
        *_WRITING_FIELDS,
    ],
    """One row a step of what a compared design writes along a history: it reads one unit, at `place` (from 1), after
    those before it, all of which `prefix` names. Of a summary `text` is what it says by then, within `room` tokens;
    notes that evolve are of no budget: `linked` are the earlier ones that the unit is linked to, with what each is
    found by from then on. `status` is `ok`, or `failed`: then nothing has changed with this step.""",
)

RANKINGS = _table(
    "rankings",
    [*_CANDIDATE_FIELDS, pa.field("score", pa.float64(), nullable=False)],
    """One row a turn that an imported ranking names for a request, with the score that it has there: the higher the
    better. None that the request must not see.""",
)

ITEM = pa.struct(
    [
        pa.field("session_index", pa.int64(), nullable=False),
        pa.field("turn_index", pa.int32(), nullable=False),
        pa.field("unit_index", pa.int32()),
        pa.field("resolution", TEXT, nullable=False),
        pa.field("start", pa.int32(), nullable=False),
        pa.field("end", pa.int32(), nullable=False),
        pa.field("rank", pa.int32(), nullable=False),
        pa.field("score", pa.float64()),
        pa.field("n_tokens", pa.int32(), nullable=False),
    ]
)

SLATES = _table(
    "slates",
    [
        *_REQUEST_FIELDS,
        pa.field("policy", TEXT, nullable=False),
        pa.field("budget", pa.int32(), nullable=False),
        pa.field("n_tokens", pa.int32(), nullable=False),
        pa.field("text", TEXT, nullable=False),
        pa.field("items", pa.large_list(ITEM), nullable=False),
    ],
    """One row a (request, policy, budget). `items` in the order of `text`; `start` and `end` are characters of the
    turn; `n_tokens` of the row counts `text` whole, of an item its line.""",
)

TABLES["oracle_slates"] = TableInfo(
    "As slates, of the policy `oracle`, which is filled from the labels: what a budget allows, for evaluation alone.",
    SLATES,
)

TABLES["llm_slates"] = TableInfo(
    "As slates, of the compared designs that ask a language model, when they write or when they read.", SLATES
)

SLATE_TABLES = ("slates", "llm_slates", "oracle_slates")
"""The tables that hold slates."""

_ANSWER_FIELDS = [
    *_REQUEST_FIELDS,
    pa.field("policy", TEXT, nullable=False),
    pa.field("budget", pa.int32(), nullable=False),
    pa.field("reader", TEXT, nullable=False),
    pa.field("shape", TEXT, nullable=False),
    pa.field("repeat", pa.int32(), nullable=False),
]
_OUTCOME_FIELDS = [
    pa.field("status", TEXT, nullable=False),
    pa.field("reason", TEXT),
    pa.field("prompt_tokens", pa.int64(), nullable=False),
    pa.field("completion_tokens", pa.int64(), nullable=False),
    pa.field("attempts", pa.int32(), nullable=False),
]
ANSWER_KEY = tuple(field.name for field in _ANSWER_FIELDS)

ANSWERS = _table(
    "answers",
    [
        *_ANSWER_FIELDS,
        pa.field("text", TEXT, nullable=False),
        pa.field("notes", TEXT),
        pa.field("finish", TEXT, nullable=False),
        *_OUTCOME_FIELDS,
    ],
    """One row an answer of a language model, the `reader`, from a slate. `shape` is how it was asked; `repeat` is 0 for
    the likeliest answer, from 1 for sampled ones; `notes` are what was extracted first, null where nothing was to be;
    `status` is `ok`, or `failed` with a `reason` and no text; `finish` is `stop` or `length` (cut). Tokens and attempts
    are of all its calls.""",
)

JUDGEMENTS = _table(
    "judgements",
    [
        *_ANSWER_FIELDS,
        pa.field("judge", TEXT, nullable=False),
        pa.field("judging", pa.int32(), nullable=False),
        pa.field("label", pa.bool_()),
        pa.field("text", TEXT, nullable=False),
        *_OUTCOME_FIELDS,
    ],
    """One row a judgement of an answer. `judging` is 0 for the likeliest reply of the judge, from 1 for sampled ones.
    `status` is `ok`; `unparsed` where `text` says neither yes nor no, and `failed` where the judge gave none: both with
    a null `label`; `unanswered` where there was no answer to judge, which counts as wrong.""",
)

QUARANTINE = _table(
    "quarantine",
    [
        pa.field("history_id", TEXT),
        pa.field("request_id", TEXT),
        pa.field("session_index", pa.int64()),
        pa.field("turn_index", pa.int32()),
        pa.field("file", TEXT),
        pa.field("place", TEXT),
        pa.field("code", TEXT, nullable=False),
        pa.field("reason", TEXT, nullable=False),
        pa.field("origin", TEXT, nullable=False),
        pa.field("weight", pa.int32(), nullable=False),
    ],
    """What could not be processed, and why. `file` and `place` are where it stood in the source; `code` is a word that
    programs may rely on (pipeline.ingest.codes, or what a stage gives), `reason` is for people; `origin` is `row`
    (the stage refused it) or `crash` (it killed its worker, found by bisection); `weight` counts what counts toward
    the quarantine limit: 1 for a lost row, 0 for a note (a citation that names no turn).""",
)
