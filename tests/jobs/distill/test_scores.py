from __future__ import annotations

import polars as pl
import pyarrow as pa
import pytest

from jobs.distill.scores import ScoresUnfit, scores_of_files
from jobs.mistakes import explain
from pipeline.schemas import TEACHER_SCORES

pytestmark = pytest.mark.flash

ROW = {"request_id": "r", "history_id": "h", "session_index": 0, "status": "ok", "reason": "", "from_logprobs": False}


def table(*scores: float | None) -> pa.Table:
    return pa.Table.from_pylist(
        [{**ROW, "turn_index": turn, "score": score} for turn, score in enumerate(scores)], TEACHER_SCORES
    )


def read(tmp_path, frame: pl.DataFrame) -> pa.Table:
    frame.write_parquet(tmp_path / "scores.parquet")
    return scores_of_files(str(tmp_path / "scores.parquet"))


def test_what_is_written_by_polars_or_pandas_with_columns_beside_is_read_as_the_schema_says(tmp_path):
    frame = pl.DataFrame(table(0.0, 10.0, None)).with_columns(note=pl.lit("x"), score=pl.col("score").cast(pl.Float64))
    assert read(tmp_path, frame.select(sorted(frame.columns))).equals(table(0.0, 10.0, None))
    frame.to_pandas().to_parquet(tmp_path / "scores.parquet")
    assert scores_of_files(str(tmp_path / "scores.parquet")).equals(table(0.0, 10.0, None))


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (pl.DataFrame(table(11.0)), "a score is outside 0 to 10"),
        (pl.DataFrame(table(-0.5)), "a score is outside 0 to 10"),
        (pl.DataFrame(table(float("nan"))), "a score is outside 0 to 10"),
        (pl.DataFrame(table(1.0)).drop("score"), "no column score: .* this file has request_id"),
        (pl.DataFrame(table(1.0)).with_columns(history_id=pl.lit(None, pl.String)), "does not hold the scores"),
        (pl.DataFrame(table(1.0)).with_columns(score=pl.lit("high")), "does not hold the scores"),
        (pl.concat([pl.DataFrame(table(1.0))] * 2), "a candidate twice"),
    ],
    ids=["above", "below", "nan", "no score", "no history", "text", "twice"],
)
def test_what_are_no_scores_of_a_teacher_is_a_mistake_that_says_why(wrong, why, tmp_path):
    with pytest.raises(ScoresUnfit, match=why) as raised:
        read(tmp_path, wrong)
    assert explain(raised.value) == (str(raised.value), 2)


def test_a_file_that_is_no_parquet_is_a_mistake(tmp_path):
    (tmp_path / "scores.parquet").write_text("score\n7\n")
    with pytest.raises(ScoresUnfit, match="no Parquet file"):
        scores_of_files(str(tmp_path / "scores.parquet"))
