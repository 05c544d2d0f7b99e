"""`slatemill show` on real lakes with the profile that needs no model: every number against the lake's own files."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace

import lightgbm
import numpy as np
import polars as pl
import pytest
from inside import ITEMS, LEXICAL, printed, ran, said_by_main, stored
from shown import beside, named, table

from cluster.errors import NoSnapshot
from cluster.lake import Lake
from jobs.plain import plain
from jobs.show import RequestNotFound, SlateNotFound, ranker_spec, show, text_of
from models.calibration import Calibration
from models.ranker import LightGBMRanker, fit
from models.ranker_params import RankerParams
from pipeline.features.groups import training_groups
from pipeline.features.registry import default_features
from pipeline.render.styles import STYLES

FEATURES = default_features(("bm25",))
POOL = 6
TURN = ["session_index", "turn_index"]
REQUEST = ["history_id", "request_id"]


SMALL, WHOLE = named("small", POOL), named("whole", 10_000)


def small(folder) -> str:
    """A profile of that name as a file: a command takes no other than a name or a file."""
    path = folder / "small.yaml"
    path.write_text("name: small\nembedder: null\nrecall: {channels: [bm25]}\n")
    return str(path)


@dataclass(frozen=True)
class Made:
    """A lake with a run of a pool of six and a ranker, one of a pool of all, and where the ranker lies."""

    lake: Lake
    ranker: LightGBMRanker
    folder: str
    run_id: str


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Made:
    folder = tmp_path_factory.mktemp("made")
    lake = stored(folder, ITEMS)
    ran(lake, WHOLE)
    features, labels = table(lake, "features", "whole").to_arrow(), table(lake, "labels").to_arrow()
    learned = training_groups(features, labels, FEATURES)
    data = (learned.matrix, learned.relevance, learned.group_sizes, FEATURES)
    ranker = fit(*data, RankerParams(trees=5, num_leaves=4), profile="small")
    ranker.save(folder / "ranker")
    _, run_id = ran(lake, SMALL, ranker, f"folder {folder / 'ranker'}")
    return Made(lake, ranker, str(folder / "ranker"), run_id)


@pytest.mark.cluster
def test_every_number_is_that_of_the_lakes_own_files_and_ranks_outside_the_pool_are_true(made):
    labels = table(made.lake, "labels").unique()
    pools = table(made.lake, "pools", "small")
    whole = table(made.lake, "pools", "whole")
    slates = pl.concat([table(made.lake, name, "small") for name in ("slates", "oracle_slates")])
    asked = table(made.lake, "requests")
    outside = 0
    for request in asked.iter_rows(named=True):
        of_request = (pl.col("request_id") == request["request_id"]) & (pl.col("history_id") == request["history_id"])
        found = show(made.lake, "small", None, request["request_id"]).as_dict()
        gold = sorted(labels.filter(of_request).select(TURN).rows())
        assert [(row["session_index"], row["turn_index"]) for row in found["evidence"]] == gold
        assert found["request"]["kappa"] == len({session for session, _ in gold})
        position = {row[:2]: row[2] for row in pools.filter(of_request).select(*TURN, "pool_position").rows()}
        true = {row[:2]: row[2:] for row in whole.filter(of_request).select(*TURN, "pool_position", "bm25_rank").rows()}
        assert found["request"]["n_visible"] == len(true)
        items = {
            (slate["policy"], slate["budget"]): {
                (item["session_index"], item["turn_index"]): item["rank"] for item in slate["items"]
            }
            for slate in slates.filter(of_request).to_dicts()
        }
        for row in found["evidence"]:
            turn = row["session_index"], row["turn_index"]
            outside += turn not in position
            assert row["pool_position"] == position.get(turn)
            assert (row["recall_rank"], row["bm25_rank"]) == true[turn]
            assert {
                (policy, int(budget)): held
                for policy, marks in row["in_slate"].items()
                for budget, held in marks.items()
            } == {cell: turn in held for cell, held in items.items()}
            if turn in items["lambdarank", 2700]:
                assert row["ranker_rank"] == items["lambdarank", 2700][turn]
            assert (row["ranker_rank"] is None) == (turn not in position)
        tokens = {row[:2]: row[2] for row in slates.filter(of_request).select("policy", "budget", "n_tokens").rows()}
        assert {(row["policy"], row["budget"]): row["n_tokens"] for row in found["slates"]} == tokens
        for row in found["slates"]:
            held = items[row["policy"], row["budget"]]
            assert (row["n_turns"], row["complete"]) == (len(held), set(gold) <= set(held))
    assert outside > 0


@pytest.mark.cluster
def test_the_slate_shown_is_the_lakes_and_its_contributions_are_lightgbms_and_add_up_to_the_score(made):
    booster = lightgbm.Booster(model_file=f"{made.folder}/model.txt")
    pools, features = table(made.lake, "pools", "small"), table(made.lake, "features", "small")
    slates, labels = table(made.lake, "slates", "small"), table(made.lake, "labels").unique()
    explained = 0
    for request in table(made.lake, "requests").iter_rows(named=True):
        of_request = (pl.col("request_id") == request["request_id"]) & (pl.col("history_id") == request["history_id"])
        found = show(made.lake, "small", None, request["request_id"]).as_dict()["slate"]
        row = slates.filter(of_request, policy="lambdarank").sort("budget").row(0, named=True)
        assert {name: found[name] for name in ("policy", "budget", "n_tokens", "text")} == {
            name: row[name] for name in ("policy", "budget", "n_tokens", "text")
        }
        assert [
            {name: turn[name] for name in item} for turn, item in zip(found["turns"], row["items"], strict=True)
        ] == row["items"]
        gold = sorted(labels.filter(of_request).select(TURN).rows())
        for turn in found["turns"]:
            key = turn["session_index"], turn["turn_index"]
            of_turn = of_request & (pl.col(TURN[0]) == key[0]) & (pl.col(TURN[1]) == key[1])
            assert turn["evidence"] == (gold.index(key) + 1 if key in gold else None)
            assert (turn["pool_position"], turn["bm25_rank"]) == pools.filter(of_turn).select(
                "pool_position", "bm25_rank"
            ).row(0)
            matrix = features.filter(of_turn).select(FEATURES).fill_null(np.nan).to_numpy()
            expected = booster.predict(matrix, pred_contrib=True)[0]
            assert [*turn["contributions"].values(), found["base"]] == expected.tolist()
            assert abs(sum(turn["contributions"].values()) + found["base"] - turn["score"]) <= 1e-6
            explained += any(turn["contributions"].values())
    assert explained > 0


@pytest.mark.cluster
def test_beside_the_text_stand_its_ranks_and_only_evidence_is_marked(made):
    for item in ITEMS:
        shown = show(made.lake, "small", None, item["question_id"])
        text, marks = beside(printed(shown, 9000))
        assert text == "\n".join(line.rstrip() for line in plain(shown.slate.text).splitlines())
        expected = [
            (f"★{turn['evidence']}" if turn["evidence"] else "", str(turn["rank"]))
            for turn in shown.slate.turns.to_dicts()
        ]
        assert marks == expected
        assert (
            len({mark for mark, _ in marks if mark})
            == shown.evidence.in_slate.filter(policy="lambdarank", in_slate=True)["number"].n_unique()
        )


@pytest.mark.cluster
def test_a_slate_of_every_style_has_its_ranks_beside_it_and_its_text_is_the_lakes(tmp_path):
    names = ["Oluwaseun Adeyemi", "Jean-Baptiste Moreau"]
    said = [(names[n % 2], f"told the {n}th time") for n in range(6)]
    sessions = [
        {"time": f"2026-05-08T{hour:02d}:00:00Z", "turns": [
            {"role": "user", "speaker": name, "text": f"The kite of {hour} h, {text}."} for name, text in said
        ]} for hour in (9, 15)
    ]  # fmt: skip
    ask = {"request_id": "q", "text": "Which kite?", "evidence": [{"session": 1, "turn": 4}]}
    lake = stored(tmp_path, [{"history_id": "h", "sessions": sessions, "requests": [ask]}], "native")
    texts = {}
    for style in STYLES:
        choices = LEXICAL.slates.model_copy(update={"style": style})
        ran(lake, LEXICAL.model_copy(update={"name": style, "slates": choices}))
        shown = show(lake, style, None, "q")
        assert (shown.slate.lines_known, shown.slate.turns.height) == (True, 12)
        text, marks = beside(printed(shown, 9000))
        assert text == "\n".join(line.rstrip() for line in plain(shown.slate.text).splitlines())
        assert sorted(int(rank) for _, rank in marks) == list(range(1, 13))
        assert [mark for mark, _ in marks].count("★1") == 1
        stored_text = table(lake, "slates", style).filter(policy="recall_order", budget=900)["text"].item()
        texts[style] = text_of(shown)
        assert texts[style] == stored_text
    assert texts["lean"].startswith(
        "J = Jean-Baptiste Moreau, O = Oluwaseun Adeyemi\n# 8 May 2026\n O: The kite of 9 h, told the 0th time.\n J: "
    )
    assert "\n## 15:00\n O: The kite of 15 h" in texts["lean"]


@pytest.mark.cluster
def test_the_slate_is_that_of_the_policy_and_budget_asked_for_and_one_that_there_is_not_is_named(made):
    request_id = ITEMS[0]["question_id"]
    pages = {}
    for policy, column in (("recall_order", None), ("oracle", "score"), ("lambdarank", "moved by")):
        shown = show(made.lake, "small", None, request_id, None, policy, 2700)
        assert (shown.slate.policy, shown.slate.budget) == (policy, 2700)
        pages[policy] = printed(shown, 80)
        assert ("moved by" in pages[policy]) == (policy == "lambdarank")
        assert column is None or column in pages[policy]
    assert "the slate's turns" not in printed(shown, 80, with_slate=False)
    assert "╭" not in printed(shown, 80, with_slate=False)
    with pytest.raises(
        SlateNotFound, match="no slate of policy dense_order: its policies are recall_order, lambdarank"
    ):
        show(made.lake, "small", None, request_id, None, "dense_order")
    with pytest.raises(SlateNotFound, match="no slate of budget 7: its budgets are 900, 2700"):
        show(made.lake, "small", None, request_id, None, None, 7)


@pytest.mark.cluster
def test_without_lambdarank_the_slate_is_that_of_the_profiles_first_policy(made):
    shown = show(made.lake, "whole", None, ITEMS[0]["question_id"])
    assert (shown.slate.policy, shown.slate.budget, shown.slate.base) == ("recall_order", 900, None)
    assert "moved by" not in printed(shown, 120)


@pytest.mark.cluster
def test_json_is_all_that_is_written_and_says_what_the_job_found(made, tmp_path, monkeypatch, capsys):
    request_id = ITEMS[0]["question_id"]
    code, out, err = said_by_main(
        monkeypatch, capsys, "show", made.lake.url, request_id, "-p", small(tmp_path), "--json"
    )
    assert (code, err) == (0, "")
    assert json.loads(out) == show(made.lake, "small", made.run_id, request_id).as_dict()


@pytest.mark.cluster
@pytest.mark.parametrize("width", [80, 120])
def test_each_loss_is_printed_once_a_policy_with_its_budgets(made, width):
    lost = 0
    for item in ITEMS:
        shown = show(made.lake, "small", None, item["question_id"])
        words = shown.evidence.in_slate.filter(pl.col("lost").is_not_null())
        lost += words.height
        text = printed(shown, width, with_slate=False)
        assert ("where it was lost" in text) == (words.height > 0)
        rows = text.partition("where it was lost")[2].partition("did not fit:")[0] if "where" in text else ""
        for number in words.filter(lost="not_in_pool")["number"].unique():
            rank = shown.evidence.turns.filter(number=number)["recall_rank"].item()
            assert re.search(rf"^ *{number} not in the pool of {POOL}: recall rank {rank} +all +all *$", rows, re.M)
    assert lost > 0


@pytest.mark.cluster
@pytest.mark.parametrize("width", [80, 120])
def test_what_is_printed_fits_the_terminal_and_holds_each_turn_and_slate(made, width):
    shown = show(made.lake, "small", None, ITEMS[0]["question_id"])
    text = printed(shown, width)
    assert max(len(line) for line in text.splitlines()) <= width
    for row in shown.evidence.turns.iter_rows(named=True):
        assert f" {row['number']} b{row['batch']} s{row['session']} t{row['turn_index']} " in text
        assert row["source_session"] in text
    complete = shown.evidence.slates["complete"].to_list()
    assert [" yes " in line for line in text.splitlines() if "✓" in line or "✗" in line] == complete


@pytest.mark.cluster
def test_an_unknown_request_is_named_with_those_near_it_and_ends_with_code_2(made, tmp_path, monkeypatch, capsys):
    near = ITEMS[3]["question_id"]
    with pytest.raises(RequestNotFound, match=near):
        show(made.lake, "small", None, near + "x")
    with pytest.raises(RequestNotFound, match=f"no request '{near}' of history 'nobody'"):
        show(made.lake, "small", None, near, "nobody")
    with pytest.raises(NoSnapshot):
        show(made.lake, "small", "no-run", near)
    code, out, err = said_by_main(monkeypatch, capsys, "show", made.lake.url, near + "x", "-p", small(tmp_path))
    assert (code, out) == (2, "")
    assert near in err.replace("\n", "")
    assert "`slatemill requests " in err.replace("\n", " ")
    code, out, err = said_by_main(
        monkeypatch, capsys, "show", made.lake.url, near, "-p", small(tmp_path), "--policy", "bm25_order"
    )
    assert (code, out) == (2, "")
    assert "its policies are recall_order, lambdarank" in " ".join(err.split())


@pytest.mark.cluster
def test_the_ranker_must_be_that_of_the_run(made, tmp_path):
    request_id = ITEMS[0]["question_id"]
    lake = stored(tmp_path, ITEMS[:1])
    ran(lake, LEXICAL, made.ranker, f"folder {tmp_path / 'ranker'}")
    absent = show(lake, "lexical", None, request_id)
    assert absent.evidence.turns["ranker_rank"].null_count() == absent.evidence.turns.height > 0
    assert "cannot be loaded" in absent.notes[0]
    replace(made.ranker, calibration=Calibration(slope=1.0, intercept=0.0)).save(tmp_path / "ranker")
    other = show(lake, "lexical", None, request_id)
    assert other.evidence.turns["ranker_rank"].null_count() == other.evidence.turns.height
    assert "is not the ranker of the run" in other.notes[0]
    made.ranker.save(tmp_path / "ranker")
    same = show(lake, "lexical", None, request_id)
    assert same.notes == ()
    assert same.evidence.turns["ranker_rank"].null_count() < same.evidence.turns.height
    assert "is not the ranker of the run" in " ".join(printed(other, 80).split())


@pytest.mark.flash
@pytest.mark.parametrize(
    ("source", "spec"),
    [
        ("folder /a/ranker version 2", "/a/ranker version 2"),
        ("slatemill-lexical version 12", "slatemill-lexical/12"),
        (".demo/ranker", ".demo/ranker"),
        (None, None),
    ],
)
def test_a_ranker_is_loaded_again_from_the_line_that_said_where_it_was(source, spec):
    assert ranker_spec(source) == spec
