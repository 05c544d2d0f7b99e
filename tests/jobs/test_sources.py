"""A source is a file, a folder or a glob, compressed or not, here or behind an address."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import os
import random
import uuid
from pathlib import Path

import fsspec
import pyarrow as pa
import pytest

from cluster.lake import Lake
from jobs.ingest import detect_format, ingest
from jobs.mistakes import explain
from jobs.sources import files_of, source_digest
from pipeline.ingest.errors import IngestError
from pipeline.ingest.source import Document

pytestmark = pytest.mark.flash

COMPRESS = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".zst": lambda data: pa.compress(data, codec="zstd", asbytes=True),
    ".bz2": bz2.compress,
}


def line(history: str, text: str = "I moved to Rome.") -> bytes:
    session = {"session_id": "s", "turns": [{"role": "user", "text": text}]}
    return json.dumps({"history_id": history, "sessions": [session]}).encode() + b"\n"


def histories(lake: Lake) -> set[str]:
    import polars as pl

    return set(pl.read_parquet(f"{lake.url}/turns/*/*.parquet", columns=["history_id"])["history_id"])


@pytest.mark.parametrize("suffix", COMPRESS)
def test_a_compressed_file_is_read_as_what_it_holds(tmp_path: Path, suffix: str) -> None:
    source = tmp_path / f"mine.jsonl{suffix}"
    source.write_bytes(COMPRESS[suffix](line("ada") + line("bob")))
    report = ingest(Lake.init(str(tmp_path / "lake")), str(source), "auto", {})
    assert report.source_format == "native"
    assert report.counts["turns"] == 2
    (file,) = files_of(str(source))
    with file.document() as (document, _):
        assert document.name == "mine.jsonl"


def test_a_folder_is_one_batch_of_its_files_by_name_whatever_lies_beside_them(tmp_path: Path) -> None:
    folder = tmp_path / "export"
    (folder / "later").mkdir(parents=True)
    (folder / "b.jsonl").write_bytes(line("bob"))
    (folder / "later" / "a.jsonl.gz").write_bytes(gzip.compress(line("ada")))
    (folder / "README.md").write_text("no history")
    (folder / ".hidden.jsonl").write_text("no history")
    assert [file.name for file in files_of(str(folder))] == ["b.jsonl", "later/a.jsonl.gz"]
    lake = Lake.init(str(tmp_path / "lake"))
    report = ingest(lake, str(folder), "auto", {})
    assert histories(lake) == {"ada", "bob"}
    assert report.counts["files"] == report.counts["items"] == 2
    assert ingest(lake, str(folder), "auto", {}).already
    assert ingest(lake, str(folder), "native", {}).already
    (folder / "c.jsonl").write_bytes(line("cyd"))
    assert not ingest(lake, str(folder), "auto", {}).already
    assert histories(lake) == {"ada", "bob", "cyd"}


def test_a_glob_takes_what_it_names(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt", "c.json"):
        (tmp_path / name).write_bytes(line(name))
    assert [file.name for file in files_of(str(tmp_path / "*.txt"))] == ["a.txt", "b.txt"]


def test_a_name_with_glob_letters_is_a_file_where_there_is_one(tmp_path: Path) -> None:
    (tmp_path / "mine[1].jsonl").write_bytes(line("ada"))
    assert [file.name for file in files_of(str(tmp_path / "mine[1].jsonl"))] == ["mine[1].jsonl"]


def test_a_source_behind_an_address_is_read_through_fsspec(tmp_path: Path) -> None:
    root = f"memory://{uuid.uuid4().hex}"
    with fsspec.open(f"{root}/in/a.jsonl", "wb") as stream:
        stream.write(line("ada"))
    lake = Lake.init(str(tmp_path / "lake"))
    ingest(lake, f"{root}/in", "auto", {})
    assert histories(lake) == {"ada"}


@pytest.mark.parametrize("source", ["nothing.json", "no/folder", "*.json"])
def test_a_source_that_is_not_there_is_said_to_be_missing(tmp_path: Path, source: str) -> None:
    with pytest.raises(FileNotFoundError, match=r"no such file|names no file"):
        files_of(str(tmp_path / source))


def test_a_folder_without_a_file_of_a_known_kind_says_which_are_known(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("x")
    with pytest.raises(FileNotFoundError, match=r"of a folder these are taken: \.json, \.jsonl"):
        files_of(str(tmp_path))


def test_files_of_several_formats_are_named_and_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(line("ada"))
    (tmp_path / "b.json").write_text(json.dumps([{"question": "?", "question_id": "q", "haystack_sessions": [[]]}]))
    with pytest.raises(IngestError, match=r"several formats: longmemeval \(b\.json\), native \(a\.jsonl\)"):
        detect_format(files_of(str(tmp_path)))


def test_members_that_were_compressed_one_by_one_are_read_on(tmp_path: Path) -> None:
    source = tmp_path / "mine.jsonl.gz"
    source.write_bytes(gzip.compress(line("ada")) + gzip.compress(line("bob")))
    lake = Lake.init(str(tmp_path / "lake"))
    ingest(lake, str(source), "auto", {})
    assert histories(lake) == {"ada", "bob"}


@pytest.mark.parametrize("suffix", [suffix for suffix in COMPRESS if suffix])
@pytest.mark.parametrize("cut", [-1, -60, 40])
def test_a_file_that_is_cut_in_its_compression_leaves_no_claim_behind(tmp_path: Path, suffix: str, cut: int) -> None:
    noise = random.Random(1)
    said = [line(f"h{n}", noise.randbytes(500).hex()) for n in range(50)]
    source = tmp_path / f"mine.jsonl{suffix}"
    source.write_bytes(COMPRESS[suffix](b"".join(said))[:cut])
    lake = Lake.init(str(tmp_path / "lake"))
    with pytest.raises(IngestError, match=r"^mine\.jsonl: it is compressed with \w+ and cannot be uncompressed"):
        ingest(lake, str(source), "native", {})
    good = tmp_path / "good.jsonl"
    good.write_bytes(line("ada"))
    assert not ingest(lake, str(good), "native", {}).already


def test_the_name_of_a_file_matters_only_where_something_is_called_after_it(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_bytes(line("ada"))
    one, other = (files_of(str(tmp_path / name)) for name in ("a.jsonl", "b.jsonl"))
    assert source_digest(one, with_names=False) == source_digest(other, with_names=False)
    assert source_digest(one, with_names=True) != source_digest(other, with_names=True)


def test_a_folder_takes_files_whose_suffix_is_in_capitals_too(tmp_path: Path) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    (folder / "A.JSONL").write_bytes(line("ada"))
    (folder / "b.jsonl.GZ").write_bytes(gzip.compress(line("bob")))
    lake = Lake.init(str(tmp_path / "lake"))
    ingest(lake, str(folder), "auto", {})
    assert histories(lake) == {"ada", "bob"}
    assert Document.of(io.BytesIO(), "A.TRAJ.JSON").stem == "A"


@pytest.mark.parametrize("within", [False, True])
def test_a_pipe_is_refused_at_once_with_what_to_do(tmp_path: Path, within: bool) -> None:
    pipe = tmp_path / "in" / "pipe.jsonl"
    pipe.parent.mkdir()
    os.mkfifo(pipe)
    (pipe.parent / "good.jsonl").write_bytes(line("ada"))
    for source in [pipe.parent if within else pipe, Path("/dev/null")]:
        with pytest.raises(IngestError, match=r"is a pipe or a device: write what comes out of it to a file"):
            files_of(str(source))


@pytest.mark.parametrize("leads_to", ["nowhere.jsonl", "link.jsonl"])
def test_a_link_that_leads_nowhere_is_named(tmp_path: Path, leads_to: str) -> None:
    (tmp_path / "good.jsonl").write_bytes(line("ada"))
    (tmp_path / "link.jsonl").symlink_to(leads_to)
    with pytest.raises(OSError, match=r"link\.jsonl") as raised:
        files_of(str(tmp_path))
    assert explain(raised.value) == (f"{tmp_path}/link.jsonl: {raised.value.strerror}", 2)


def test_a_folder_that_links_to_itself_is_read_once(tmp_path: Path) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    (folder / "a.jsonl").write_bytes(line("ada"))
    (folder / "again").symlink_to(".")
    (folder / "b.jsonl").symlink_to("a.jsonl")
    assert [file.name for file in files_of(str(folder))] == ["a.jsonl", "b.jsonl"]
    report = ingest(Lake.init(str(tmp_path / "lake")), str(folder), "auto", {})
    assert (report.counts["turns"], report.counts["repeated_turns"]) == (1, 1)


NAMES = ["a b", "a\nb", "a%20b", "a[1]", "a*", "a?", "a:b", "-a", "~a", "#a", "日本", "a\\b", "'a'", "{a,b}"]


def test_a_history_is_called_after_its_file_whatever_the_name(tmp_path: Path) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    chat = json.dumps({"messages": [{"role": "user", "content": "hi"}]}).encode()
    for name in NAMES:
        (folder / f"{name}.json").write_bytes(chat)
    for name in (b"\xff.json", b"\xfe.json"):
        (folder / os.fsdecode(name)).write_bytes(chat)
    lakes = [Lake.init(str(tmp_path / name), buckets=1) for name in ("whole", "one by one")]
    ingest(lakes[0], str(folder), "auto", {})
    for path in sorted(folder.iterdir()):
        ingest(lakes[1], str(path), "auto", {})
    assert histories(lakes[0]) == histories(lakes[1]) == {*NAMES, "\\udcff", "\\udcfe"}
