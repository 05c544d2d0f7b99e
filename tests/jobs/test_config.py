from __future__ import annotations

from typing import get_args

import pytest

from jobs.config import ConfigError, SlateChoices, load_profile, parse_profile
from jobs.names import profile_names
from jobs.overrides import override
from pipeline.render.styles import STYLES

pytestmark = pytest.mark.flash


def test_every_profile_that_ships_is_valid_and_named_like_its_file():
    assert profile_names() == ["agentmemrec", "agents", "compared", "default", "flexamem", "lexical", "tuned"]
    assert [load_profile(name).name for name in profile_names()] == profile_names()


def test_agentmemrec_is_the_recipe_of_the_paper():
    profile = load_profile("agentmemrec")
    assert (profile.recall.channels, profile.recall.rrf_k, profile.recall.pool_size) == (("bm25", "dense"), 60, 128)
    assert (profile.ranker.num_leaves, profile.ranker.trees, profile.ranker.learning_rate) == (31, 300, 0.05)
    assert 2700 in profile.slates.budgets


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: x\nrecall: {pool_sise: 3}", "unknown key recall.pool_sise; did you mean pool_size"),
        ("name: x\nembeder: null", "unknown key embeder; did you mean embedder"),
        ("name: x\nslates: {budgets: [0]}", "budgets must be positive"),
        ("name: x\nembedder: null", "recall.channels names dense, but embedder is null"),
        ("name: x\nrecall: {channels: [bm25]}\nslates: {policies: [dense_order]}", "needs the channel dense"),
        ("name: x\nslates: {policies: [lamdarank]}", "unknown policy lamdarank; did you mean lambdarank"),
        ("name: x\nslates: {policies: [bm25_oder]}", "did you mean bm25_order.*Known here: .*dense_order.*knapsack"),
        ("name: x\nslates: {policies: [bm52_order]}", "needs the channel bm52.*did you mean bm25_order"),
        ("name: x\nslates: {policies: [cross_encoder_order]}", "needs a cross-encoder, and the profile has none"),
        ("name: x\nslates: {policies: [oracle, oracle]}", "policies must be distinct"),
        ("name: x\ncross_encoder: {modle: m}", "unknown key cross_encoder.modle; did you mean model"),
        ("name: x\ncross_encoder: {top: 0}", "cross_encoder.top"),
        ("name: x\ncross_encoder: {}\nfeatures: [role]", "features does not name cross_encoder"),
        ("name: x\nfeatures: [role]\nranker: {features: [n_tokens, role]}", "ranker.features names .*: n_tokens"),
        ("name: x\nfeatures: [role]\nranker: {prior: 1}", "ranker.prior goes by pool_position"),
        ("name: x\nfeatures: [role]\nranker: {features: [role, role]}", "ranker.features must be distinct"),
        ("name: x\nfeatures: [role]\nranker: {rising: [n_tokens]}", "does not learn from: n_tokens"),
        ("name: x\nfeatures: [role]\nranker: {rising: [role], falling: [role]}", "rising or falling once"),
        ("name: a/b", "name"),
        ("- 1", "must be a mapping"),
        ("a: [", "is not YAML"),
    ],
)
def test_what_is_wrong_is_said_with_what_would_do(text, message):
    with pytest.raises(ConfigError, match=message):
        parse_profile(text, "p.yaml")


def test_a_profile_may_name_every_policy_of_its_channels_and_no_other():
    named = "[recall_order, bm25_order, lambdarank, adaptive_k, knapsack, oracle]"
    profile = parse_profile(f"name: x\nrecall: {{channels: [bm25]}}\nslates: {{policies: {named}}}", "p.yaml")
    assert profile.learned_policies == ("lambdarank", "adaptive_k", "knapsack")


def test_a_ranker_learns_from_the_features_that_are_named_for_it_or_from_all():
    text = "name: x\nfeatures: [role, n_tokens]\n"
    assert parse_profile(text, "p.yaml").learned_features == ("role", "n_tokens")
    assert parse_profile(f"{text}ranker: {{features: [n_tokens]}}", "p.yaml").learned_features == ("n_tokens",)


def test_an_unknown_profile_names_those_there_are():
    with pytest.raises(ConfigError, match="agentmemrec, agents, compared, default, flexamem, lexical, tuned"):
        load_profile("nope")


def test_the_command_line_may_change_budgets_and_as_of():
    changed = override(load_profile("lexical"), "500,100", "latest")
    assert (changed.slates.budgets, changed.as_of) == ((100, 500), "latest")
    with pytest.raises(ConfigError, match="whole numbers"):
        override(load_profile("lexical"), "many", None)
    with pytest.raises(ConfigError, match="--as-of"):
        override(load_profile("lexical"), None, "never")


def test_a_profile_may_name_every_style_and_no_other():
    assert set(get_args(SlateChoices.model_fields["style"].annotation)) == set(STYLES)
    with pytest.raises(ConfigError, match=r"slates\.style"):
        parse_profile("name: x\nslates: {style: leaner}", "p.yaml")


def test_what_is_wrong_with_a_profile_whatever_is_changed_is_said_of_the_profile():
    lexical = load_profile("lexical")
    slates = lexical.slates.model_copy(update={"policies": ("dense_order",)})
    with pytest.raises(ConfigError, match=r"^profile lexical: policy dense_order needs the channel dense"):
        override(lexical.model_copy(update={"slates": slates}), "900", None)
    recall = lexical.recall.model_copy(update={"pool_size": 0})
    with pytest.raises(ConfigError, match=r"^recall.pool_size: "):
        override(lexical.model_copy(update={"recall": recall}), "900", None)


def test_a_profile_has_no_cross_encoder_until_it_names_one_and_then_its_policy():
    assert all(load_profile(name).cross_encoder is None for name in profile_names())
    named = parse_profile("name: x\ncross_encoder: {}\nslates: {policies: [cross_encoder_order]}", "p.yaml")
    assert named.cross_encoder is not None
    assert (named.cross_encoder.model, named.cross_encoder.max_tokens) == ("BAAI/bge-reranker-v2-m3", 512)
    assert (named.cross_encoder.top, named.rankings) == (None, ())
    assert "cross_encoder" in named.features


@pytest.mark.parametrize(
    ("memory", "policy", "said"),
    [("{relevance: record}", "unit_recovery", "memory.relevance: record"), ("{}", "memgas", "policy memgas")],
)
def test_what_goes_by_vectors_of_requests_is_refused_where_there_are_none(memory, policy, said):
    text = "name: a\n{recall}\nmemory: {memory}\nslates: {{policies: [{policy}]}}"
    lexical = "embedder: null\nrecall: {channels: [bm25]}"
    with pytest.raises(ConfigError, match=f"{said} goes by vectors"):
        parse_profile(text.format(recall=lexical, memory=memory, policy=policy), "a.yaml")
    parse_profile(text.format(recall="recall: {channels: [bm25, dense]}", memory=memory, policy=policy), "a.yaml")


def test_a_profile_whose_records_a_model_writes_names_the_model_and_an_order_of_writers():
    text = "name: a\nembedder: null\nrecall: {{channels: [bm25]}}\nmemory: {{writers: {writers}}}\n{writer}"
    with pytest.raises(ConfigError, match="the profile has no writer"):
        parse_profile(text.format(writers="[llm, rule]", writer=""), "a.yaml")
    with pytest.raises(ConfigError, match="is to write: rule or llm"):
        parse_profile(text.format(writers="[some-model-r2000-a1000]", writer=""), "a.yaml")
    with pytest.raises(ConfigError, match="distinct"):
        parse_profile(text.format(writers="[rule, rule]", writer=""), "a.yaml")
    made = parse_profile(text.format(writers="[llm, old-r2000-a1000, rule]", writer="writer: {model: m}"), "a.yaml")
    assert made.memory is not None
    assert made.memory.writers == ("llm", "old-r2000-a1000", "rule")
    assert made.language_models == {"writer": made.writer}
