"""A tuned encoder is found where it was registered, and had by a machine that lacks its folder."""

from __future__ import annotations

import pickle
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tiny_bert import tiny_bert

from models.encoder_registry import find_tuned, load_tuned, log_finetuning
from models.finetune import FinetuneParams
from models.token_encoder import load_multi_vector
from models.tuned_encoder import (
    ABOUT_FILE,
    OF_ALL,
    Origin,
    TunedEncoder,
    TunedEncoderError,
    TunedTokenEncoder,
    save_tuned,
    tensors_file,
)
from models.user_cache import user_cache
from models.windowed import WindowedConfig

NOWHERE = "http://127.0.0.1:9"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> WindowedConfig:
    return WindowedConfig(str(tiny_bert(tmp_path_factory.mktemp("models") / "base")), max_tokens=32)


@pytest.fixture
def tuned(base: WindowedConfig, elsewhere: Path) -> TunedEncoder:
    state = load_multi_vector(Path(base.name), 32).state_dict()
    tensors = {name: tensor + 0.1 * torch.sign(tensor) for name, tensor in state.items() if "layer.1." in name}
    return save_tuned(elsewhere / "tuned", base, FinetuneParams(), {OF_ALL: tensors}, {}, {"gain": 0.5})


def read_by(encoder: TunedTokenEncoder) -> bytes:
    return encoder.encode(["where is the moss?"], "query").vectors.tobytes()


def moved_away(tuned: TunedEncoder, origin: Origin | None) -> TunedEncoder:
    """The encoder as a worker has it whose disk lacks the folder."""
    return pickle.loads(pickle.dumps(replace(tuned, folder=Path("not-here"), origin=origin)))


@pytest.mark.flash
def test_a_machine_without_the_folder_fetches_it_once_and_reads_by_the_same_tensors(tuned: TunedEncoder) -> None:
    kept = tuned.folder.rename("kept")
    worker = moved_away(tuned, Origin("sqlite:///none.db", kept.absolute().as_uri()))
    expected = read_by(load_tuned(replace(tuned, folder=kept)))
    assert read_by(load_tuned(worker)) == expected
    shutil.rmtree(kept)
    assert read_by(load_tuned(worker)) == expected
    assert [path.name for path in (user_cache() / "encoders").iterdir()] == [tuned.digest]


@pytest.mark.flash
@pytest.mark.parametrize("lost", [ABOUT_FILE, tensors_file(OF_ALL)])
def test_what_the_cache_lost_a_part_of_is_fetched_anew(tuned: TunedEncoder, lost: str) -> None:
    kept = tuned.folder.rename("kept")
    worker = moved_away(tuned, Origin("sqlite:///none.db", kept.absolute().as_uri()))
    expected = read_by(load_tuned(worker))
    (user_cache() / "encoders" / tuned.digest / lost).unlink()
    assert read_by(load_tuned(worker)) == expected
    assert [path.name for path in (user_cache() / "encoders").iterdir()] == [tuned.digest]


@pytest.mark.flash
def test_a_cache_that_cannot_be_made_is_said_to_be(tuned: TunedEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tuned.folder.rename("kept")
    Path("a-file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(Path("a-file").absolute()))
    with pytest.raises(TunedEncoderError, match="set XDG_CACHE_HOME"):
        load_tuned(moved_away(tuned, Origin("sqlite:///none.db", kept.absolute().as_uri())))


@pytest.mark.slow
def test_one_that_does_worse_is_registered_and_crowned_only_for_want_of_another(
    tuned: TunedEncoder, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{elsewhere}/mlflow.db")
    crowned = [log_finetuning(tuned, {}, "mine", crown=crown) for crown in (False, False, True)]
    assert [(one.version, one.is_champion) for one in crowned] == [("1", True), ("2", False), ("3", True)]


@pytest.mark.flash
def test_without_an_origin_it_is_said_which_folder_is_lacking_and_what_to_do(tuned: TunedEncoder) -> None:
    with pytest.raises(TunedEncoderError, match="lies in not-here, which this machine does not have: put it where"):
        load_tuned(moved_away(tuned, None))


@pytest.mark.flash
def test_what_is_gone_or_is_another_encoder_is_refused_and_not_kept(tuned: TunedEncoder) -> None:
    worker = moved_away(tuned, Origin(NOWHERE.replace("//", "//ada:secret@"), Path("gone").absolute().as_uri()))
    with pytest.raises(TunedEncoderError, match=f"cannot be had from {NOWHERE}"):
        load_tuned(worker)
    with (tuned.folder / ABOUT_FILE).open("a") as file:
        file.write(" ")
    with pytest.raises(TunedEncoderError, match="is not the encoder that was registered"):
        load_tuned(moved_away(tuned, Origin(NOWHERE, tuned.folder.absolute().as_uri())))
    assert list((user_cache() / "encoders").iterdir()) == []


@pytest.mark.slow
def test_in_a_local_store_it_is_read_where_it_lies_unless_it_was_changed(
    tuned: TunedEncoder, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{elsewhere}/mlflow.db")
    log_finetuning(tuned, {}, "mine", crown=True)
    found = find_tuned(None, "mine")
    assert (found.digest, found.origin, (user_cache() / "encoders").exists()) == (tuned.digest, None, False)
    with (found.folder / ABOUT_FILE).open("a") as file:
        file.write(" ")
    with pytest.raises(TunedEncoderError, match="is not the encoder that was registered"):
        find_tuned(None, "mine")


@pytest.mark.slow
def test_a_server_gives_it_to_the_driver_and_to_a_worker_that_knows_no_server(
    server: str, tuned: TunedEncoder, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", server)
    log_finetuning(tuned, {}, "mine", crown=True)
    found = find_tuned(None, "mine")
    assert (found.digest, found.identity) == (tuned.digest, tuned.identity)
    assert found.folder == user_cache() / "encoders" / tuned.digest
    before = found.folder.stat().st_mtime_ns
    assert find_tuned(None, "mine").folder.stat().st_mtime_ns == before
    shutil.rmtree(found.folder)
    monkeypatch.delenv("MLFLOW_TRACKING_URI")
    assert read_by(load_tuned(pickle.loads(pickle.dumps(found)))) == read_by(load_tuned(tuned))
