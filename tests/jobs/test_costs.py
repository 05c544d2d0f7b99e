"""What models were asked is counted apart for writing, reading and answering, and turned into money by the profile."""

from __future__ import annotations

import pytest

from cluster.report import StageReport
from jobs.config import parse_profile
from jobs.costs import by_kind, cost_line, costs, metrics

pytestmark = pytest.mark.flash

PROFILE = parse_profile(
    """
    name: priced
    embedder: null
    recall: {channels: [bm25]}
    memory: {writers: [llm, rule]}
    writer: {model: w, price_per_million_prompt_tokens: 2, price_per_million_completion_tokens: 10}
    judge: {model: j, price_per_gpu_hour: 3.6}
    reader: {model: r}
    """,
    "priced",
)


def stage(name: str, calls: int = 0, read: int = 0, wrote: int = 0, gpu_seconds: float = 0) -> StageReport:
    return StageReport(
        name, calls=calls, prompt_tokens=read, completion_tokens=wrote, gpu_seconds=gpu_seconds, cached_tokens=read // 4
    )


def test_each_kind_adds_up_its_stages_at_the_prices_of_their_models():
    stages = [
        stage("units"),
        stage("records", 10, 1_000_000, 200_000),
        stage("merged_records", 2, 500_000, 100_000),
        stage("answers", 5, 4_000, 100, 60),
        stage("judgements", 5, 1_000, 5, 500),
        stage("turn_vectors", gpu_seconds=99),
    ]
    found = costs(PROFILE, stages)
    assert list(found) == ["write", "answer"]
    # 1.5 million tokens at 2 and 0.3 million at 10; 500 GPU seconds at 3.6 an hour, and a reader without a price.
    assert found["write"]["money"] == pytest.approx(1.5 * 2 + 0.3 * 10)
    assert found["answer"]["money"] == pytest.approx(0.5)
    assert (found["write"]["calls"], found["write"]["prompt_tokens"]) == (12, 1_500_000)
    assert (found["answer"]["calls"], found["answer"]["gpu_seconds"]) == (10, 560)


def test_without_prices_there_is_no_money_and_without_calls_nothing():
    found = costs(PROFILE, [stage("answers", 1, 10, 1)])
    assert found["answer"]["money"] is None
    assert by_kind(PROFILE, {"records": dict.fromkeys(("calls", "prompt_tokens"), 0)}) == {}


def test_a_line_for_people_and_metrics_for_mlflow_say_the_same():
    spent = costs(PROFILE, [stage("records", 4, 1_000_000, 1_000)])
    assert cost_line(spent["write"]) == (
        "4 calls, 1,000,000 tokens read (25% of them cached), 1,000 written, 0 s of the model, "
        "2.0100 by the profile's prices"
    )
    logged = metrics({"worker_seconds": 7, "gpu_seconds": 0.0, **spent})
    assert logged["cost.worker_seconds"] == 7
    assert logged["cost.write.calls"] == 4
    assert logged["cost.write.money"] == pytest.approx(2.01)
    assert not any("answer" in name for name in logged)
