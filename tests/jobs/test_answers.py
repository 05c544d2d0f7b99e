"""A reader answers from the slates of a lake, a judge judges, and evaluate tells of both."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from inside import ITEMS, LEXICAL, contents, ran, said_by_main, stored
from rich.console import Console

from cluster import rayenv
from cluster.exits import DONE, NEEDS_BACKFILL
from cluster.lake import Lake
from cluster.snapshot import files_of_run, latest
from cluster.stage import ModelSpec
from jobs.answer import Answered, Wanted, answer
from jobs.answer_sets import NothingAnswered, answer_sets
from jobs.config import Profile
from jobs.evaluate import evaluate, log
from jobs.judge import JudgedRun, ToJudge, judge
from jobs.report import show_evaluation
from jobs.run import Resources
from jobs.served import Served
from models.interfaces import NO_TOKENS, Answer, LanguageModel, Prompt, Spent

pytestmark = pytest.mark.cluster

BUDGETS = (300, 600)
KEY = ["history_id", "request_id"]


def profile(name: str = "read", budgets: tuple[int, ...] = BUDGETS) -> Profile:
    slates = LEXICAL.slates.model_copy(update={"policies": ("recall_order", "oracle"), "budgets": budgets})
    return LEXICAL.model_copy(update={"name": name, "slates": slates})


def loader(replies: str, name: str = "echo") -> Callable[[], LanguageModel]:
    """A model of a class of its own, which is sent to workers as it is: they cannot import this file."""

    class Echo:
        context, spent = 100_000, NO_TOKENS

        def count(self, prompts: Sequence[Prompt]) -> list[int]:
            return [len(prompt.user.split()) for prompt in prompts]

        def answer(self, prompts: Sequence[Prompt]) -> list[Answer]:
            tokens = sum(self.count(prompts))
            self.spent = self.spent.plus(Spent(calls=len(prompts), prompt_tokens=tokens))
            return [
                Answer(replies.format(seed=prompt.seed), finish="stop", prompt_tokens=len(prompt.user.split()))
                for prompt in prompts
            ]

    Echo.name = name
    return Echo


READER = Served("echo-1", "echo 1", ModelSpec("echo-1", loader("a dog {seed}")))
JUDGE = Served("judge-1", "judge 1", ModelSpec("judge-1", loader("Yes")))
ONE = Resources(workers=1)


@pytest.fixture(scope="module", autouse=True)
def _one_ray() -> Iterator[None]:
    with rayenv.session(workers=1):
        yield


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    made = stored(tmp_path_factory.mktemp("prepared"), ITEMS[:3])
    ran(made, profile())
    return made


@pytest.fixture
def lake(prepared: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    """A copy, with slates and no answers."""
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    shutil.copytree(prepared.url, tmp_path / "lake")
    return Lake.open(str(tmp_path / "lake"))


def answered(lake: Lake, reader: Served = READER, resources: Resources = ONE, **wanted: object) -> Answered:
    return answer(lake, profile(), Wanted(**wanted), reader, resources)


def judged(lake: Lake, judge_model: Served | None = JUDGE, **wanted: object) -> JudgedRun:
    return judge(lake, profile(), ToJudge(**wanted), judge_model, ONE, draws=100)


def rows(lake: Lake, table: str) -> pl.DataFrame:
    return pl.read_parquet(f"{lake.url}/{table}/**/*.parquet", hive_partitioning=False)


def done(found: Answered | JudgedRun) -> int:
    return sum(stage.done for stage in found.report.stages)


def test_every_slate_is_answered_once_and_a_second_time_nothing_is_done(lake: Lake) -> None:
    first = answered(lake)
    assert (first.report.exit_code, first.failed) == (DONE, 0)
    made = rows(lake, "answers")
    slates = pl.concat([rows(lake, table).select(*KEY, "policy", "budget") for table in ("slates", "oracle_slates")])
    place = [*KEY, "policy", "budget"]
    assert made.select(place).sort(place).equals(slates.sort(place))
    assert made.height == first.answers == 3 * 2 * 2
    assert set(made["text"]) == {"a dog 0"}
    before = contents(lake)
    again = answered(lake)
    assert (done(again), again.answers) == (0, 12)
    now = contents(lake)
    assert {path: now[path] for path in before} == before


def test_what_it_took_is_listed_with_its_files(lake: Lake) -> None:
    found = answered(lake, policies=("oracle",), budgets=(600,), shape="notes")
    files = pl.DataFrame(files_of_run(lake, found.run_id)).filter(pl.col("table") == "answers")
    made = rows(lake, "answers")
    assert files["calls"].sum() == 2 * made.height == 6
    assert files["prompt_tokens"].sum() == made["prompt_tokens"].sum() > 0
    assert found.report.counts()["answers-oracle-600"]["calls"] == 6


def test_another_set_needs_no_back_fill_and_leaves_the_first_as_it_is(lake: Lake) -> None:
    answered(lake, policies=("recall_order",), budgets=(300,))
    before = contents(lake)
    others = [
        {"policies": ("oracle",)}, {"shape": "notes"}, {"repeats": 2}, {"limit": 1},
        {"reader": replace_id(READER, "echo-2")},
    ]  # fmt: skip
    for other in others:
        found = answered(lake, **other)
        assert (found.report.exit_code, done(found) > 0) == (DONE, True), other
    now = contents(lake)
    assert {path: now[path] for path in before} == before


def replace_id(served: Served, model_id: str) -> Served:
    return served._replace(model_id=model_id, identity=model_id)


def test_repeats_are_drawn_and_a_limit_keeps_the_same_requests_of_every_policy(lake: Lake) -> None:
    found = answered(lake, repeats=3, limit=2)
    assert found.answers == 2 * 3 * 4
    made = rows(lake, "answers")
    assert set(made["text"]) == {"a dog 1", "a dog 2", "a dog 3"}
    assert {tuple(sorted(group["request_id"].unique())) for _, group in made.group_by("policy", "budget")} == {
        tuple(sorted(made["request_id"].unique()))
    }


def test_answers_to_slates_that_have_changed_are_left_and_told(lake: Lake) -> None:
    answered(lake)
    judged(lake)
    ran(lake, profile(budgets=(300,)))
    with pytest.raises(NothingAnswered, match="as they are now: `slatemill answer`"):
        judged(lake)
    assert evaluate(lake, "read", None, draws=100, seed=0)[0].answers == ()
    found = answered(lake)
    assert found.report.exit_code == NEEDS_BACKFILL
    names = tuple(stage.name for stage in found.report.stages)
    assert names == ("answers-oracle-300", "answers-recall_order-300")
    redone = answered(lake, resources=replace(ONE, backfill=names))
    assert (redone.report.exit_code, redone.answers) == (DONE, 6)
    assert len(answer_sets(lake, latest(lake, "read"))) == 2


def test_a_judge_says_how_good_answers_are_and_without_one_their_words_are_compared(lake: Lake) -> None:
    answered(lake)
    alone = judged(lake, None)
    assert (alone.report, [row.judged for row in alone.rows]) == (None, [()] * 4)
    found = judged(lake, policies=("oracle",))
    assert (found.report.exit_code, done(found) > 0) == (DONE, True)
    assert [(row.policy, row.budget) for row in found.rows] == [("oracle", 300), ("oracle", 600)]
    for row in found.rows:
        (by_judge,) = row.judged
        assert (by_judge.judge, by_judge.accuracy.value, by_judge.n) == ("judge-1", 1.0, row.n)
    assert rows(lake, "judgements").height == 6
    assert done(judged(lake, policies=("oracle",))) == 0
    twice = judged(lake, policies=("oracle",), judgings=2)
    assert twice.rows[0].judged[0].over_judgings.unanimous == 1.0


def test_an_answer_that_failed_is_counted_and_wrong(tmp_path: Path, lake: Lake) -> None:
    failing = READER._replace(spec=ModelSpec("silent", loader_of_failures()))
    found = answered(lake, failing, policies=("oracle",), budgets=(300,))
    assert (found.report.exit_code, found.failed, found.answers) == (DONE, 3, 3)
    (row,) = judged(lake).rows
    assert (row.failed, row.f1.value, row.judged[0].accuracy.value) == (3, 0.0, 0.0)


def loader_of_failures() -> Callable[[], LanguageModel]:
    class Silent:
        name, context, spent = "silent", 10, NO_TOKENS

        def count(self, prompts: Sequence[Prompt]) -> list[int]:
            return [1 for _ in prompts]

        def answer(self, prompts: Sequence[Prompt]) -> list[Answer]:
            return [Answer("", "failed", "it is too long") for _ in prompts]

    return Silent


def test_of_answers_in_two_sets_each_counts_once_with_its_own_judgement(lake: Lake) -> None:
    answered(lake, policies=("oracle",), budgets=(300,), limit=1)
    judged(lake)
    answered(lake, policies=("oracle",), budgets=(300,))
    (row,) = judged(lake, None).rows
    assert row.n + row.n_adversarial == 3
    # The larger set has not been judged yet: what was said of the smaller is of other answers.
    assert row.judged == ()


def test_what_the_ranker_has_learned_from_is_left_out_of_the_numbers(lake: Lake) -> None:
    from jobs.answer_sets import summarised

    answered(lake, policies=("oracle",), budgets=(300,))
    taken = latest(lake, "read")
    learned = rows(lake, "requests")["history_id"].to_list()[:1]
    (row,) = summarised(lake, taken, learned, draws=100, seed=0)
    assert row.n + row.n_adversarial == 2


def test_a_policy_or_budget_that_there_is_not_is_named(lake: Lake) -> None:
    with pytest.raises(NothingAnswered, match="no slates of policy lambdarank; there are: oracle, recall_order"):
        answered(lake, policies=("lambdarank",))
    with pytest.raises(NothingAnswered, match="no slates of budget 7; there are: 300, 600"):
        answered(lake, budgets=(7,))
    answered(lake, policies=("oracle",))
    with pytest.raises(NothingAnswered, match="no answers from slates of policy recall_order; there are: oracle"):
        judged(lake, policies=("recall_order",))
    with pytest.raises(NothingAnswered, match="no answers in the shape notes; there are: longmemeval"):
        judged(lake, shapes=("notes",))


def test_evaluate_tells_of_answers_below_completeness(lake: Lake) -> None:
    answered(lake, repeats=2)
    judged(lake)
    result, about = evaluate(lake, "read", None, draws=100, seed=0)
    assert [(row.budget, row.policy) for row in result.answers] == [
        (300, "oracle"), (300, "recall_order"), (600, "oracle"), (600, "recall_order"),
    ]  # fmt: skip
    out = io.StringIO()
    show_evaluation(result, about, Console(file=out, width=80))
    text = out.getvalue()
    assert text.index("answers: echo-1, longmemeval, 2 drawn") > text.index("slates of 600 tokens")
    assert "judged by judge-1" in text
    assert "labels of judge-1 over repeated answers" in text
    assert max(map(len, text.splitlines())) <= 80
    named = [name for name in result.metrics() if name.startswith("answers of echo-1 longmemeval sampled/oracle/300/")]
    assert any(name.endswith("/f1") for name in named)
    assert any(name.endswith("/accuracy by judge-1") for name in named)
    assert json.loads(json.dumps(result.as_dict()))["answers"][0]["judged"][0]["accuracy"]["value"] == 1.0
    log(result, about)


def test_later_arrivals_are_answered_after_the_next_run(lake: Lake, tmp_path: Path) -> None:
    from inside import delivered

    answered(lake, policies=("oracle",), budgets=(300,))
    delivered(lake, tmp_path / "later.json", ITEMS[3:4])
    again = answered(lake, policies=("oracle",), budgets=(300,))
    assert (again.answers, done(again)) == (3, 0)
    ran(lake, profile())
    later = answered(lake, policies=("oracle",), budgets=(300,))
    assert (later.answers, later.report.exit_code) == (4, DONE)


def test_the_commands_say_and_write_the_same(lake: Lake, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr("jobs.served.reader_of", lambda _: READER)
    monkeypatch.setattr("jobs.served.judge_of", lambda _: JUDGE)
    file = tmp_path / "read.yaml"
    file.write_text(json.dumps(profile().model_dump(mode="json", exclude_none=True)))
    words = [lake.url, "--profile", str(file), "--workers", "1"]
    code, out, _ = said_by_main(monkeypatch, capsys, "answer", *words, "--policy", "oracle", "--budget", "300")
    assert (code, "3 answers" in out, "answer: 3 calls" in out) == (0, True, True)
    code, out, _ = said_by_main(monkeypatch, capsys, "answer", *words, "--shape", "locomo", "--json")
    told = json.loads(out)
    assert (code, told["answers"], told["failed"], told["exit_code"]) == (0, 12, 0, 0)
    code, out, _ = said_by_main(monkeypatch, capsys, "judge", *words, "--shape", "locomo", "--json")
    told = json.loads(out)
    assert (code, {row["shape"] for row in told["answers"]}, told["exit_code"]) == (0, {"locomo"}, 0)
    code, out, _ = said_by_main(monkeypatch, capsys, "judge", *words)
    assert (code, "answers: echo-1, locomo, judged by judge-1" in out) == (0, True)
