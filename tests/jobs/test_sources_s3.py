"""What lies in S3 is ingested as what lies on a disk: through the command, and from a real S3 server."""

from __future__ import annotations

import gzip
import json
import os
import random
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import fsspec.config
import polars as pl
import pyarrow as pa
import pytest
from inside import said_by_main
from seaweed import KEY, PUBLIC_BUCKET, SECRET, Server

from cluster.batches import committed, uncommitted
from cluster.lake import Lake
from jobs import ingest as ingest_job
from jobs import reach
from jobs.ingest import ingest
from jobs.reach import NotReached
from jobs.sources import files_of
from pipeline.ingest.errors import IngestError
from pipeline.synth.histories import history

pytestmark = pytest.mark.s3

DRIVER = Path(__file__).with_name("driver.py")


def line(history: str, *texts: str) -> bytes:
    session = {"session_id": "s", "turns": [{"role": "user", "text": text} for text in texts or ("I moved to Rome.",)]}
    return json.dumps({"history_id": history, "sessions": [session]}).encode() + b"\n"


def zstd(data: bytes) -> bytes:
    return bytes(pa.compress(data, codec="zstd", asbytes=True))


BAD = line("eve") + b'{"history_id": 3, "sessions": []}\n' + line("fay") * 150
OBJECTS = {
    "in/a.jsonl": line("ada") + line("bob", "One.", "Two."),
    "in/b c+d=é.jsonl": line("cyd"),
    "in/later/d.jsonl.gz": gzip.compress(line("dan") + line("ada", "And to Oslo.")),
    "in/later/e.jsonl.zst": zstd(line("eve")),
    "in/README.md": b"no history",
    "in/.hidden.json": b"no history",
    "notes/README.md": b"no history",
    "bad/deep/x.jsonl": BAD,
    "items/two.json": json.dumps([history(seed=1, index=index, sessions=3) for index in range(2)]).encode(),
}
SOURCES = {
    "an object": "in/a.jsonl",
    "an object of another format": "items/two.json",
    "an object whose name needs quoting": "in/b c+d=é.jsonl",
    "a folder": "in",
    "a folder by its slash": "in/later/",
    "a glob": "in/*.jsonl",
    "a glob of folders": "i*/l*r/*",
    "gzip": "in/later/d.jsonl.gz",
    "zstd": "in/later/e.jsonl.zst",
}


@pytest.fixture(scope="module")
def objects(s3_server: Server) -> str:
    """The bucket `chats` with OBJECTS in it, which no test changes."""
    return s3_server.put("chats", OBJECTS)


@pytest.fixture
def folder(s3: Server, objects: str) -> str:
    """That bucket, for this process."""
    return objects


@pytest.fixture
def own(s3: Server) -> str:
    """A new folder with OBJECTS in it."""
    return s3.put(f"own/{uuid.uuid4().hex[:8]}", OBJECTS)


@pytest.fixture
def environment(s3: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[dict[str, str | None]], None]]:
    """Changes variables of the environment (None: takes one away), and lets clients of S3 be made anew by them."""

    def change(variables: dict[str, str | None]) -> None:
        for name, value in variables.items():
            monkeypatch.delenv(name, raising=False)
            if value is not None:
                monkeypatch.setenv(name, value)
        # As fsspec does when it is imported.
        fsspec.config.set_conf_files(os.environ.get("FSSPEC_CONFIG_DIR", ""), fsspec.config.conf)
        fsspec.config.set_conf_env(fsspec.config.conf)
        fsspec.get_filesystem_class("s3").clear_instance_cache()

    yield change
    fsspec.get_filesystem_class("s3").clear_instance_cache()


@pytest.fixture
def slatemill(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """The command: its exit code, and all that it said, as one line."""

    def call(*arguments: object) -> tuple[int, str]:
        code, out, err = said_by_main(monkeypatch, capsys, *map(str, arguments))
        return code, " ".join((out + err).split())

    return call


def tables(lake: Path) -> dict[str, bytes]:
    """Every table of a lake, file by file."""
    return {path.relative_to(lake).as_posix(): path.read_bytes() for path in sorted(lake.rglob("*.parquet"))}


@pytest.mark.parametrize("what", SOURCES)
def test_what_lies_in_s3_makes_the_tables_that_the_same_files_make(what, folder, slatemill, tmp_path) -> None:
    for key, data in OBJECTS.items():
        (tmp_path / "disk" / key).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "disk" / key).write_bytes(data)
    places = {"s3": f"s3://{folder}/{SOURCES[what]}", "disk": f"{tmp_path}/disk/{SOURCES[what]}"}
    for name, source in places.items():
        slatemill("init", tmp_path / name / "lake")
        code, said = slatemill("ingest", tmp_path / name / "lake", source)
        assert code == 0, said
    made = tables(tmp_path / "s3" / "lake")
    assert made == tables(tmp_path / "disk" / "lake")
    assert any(path.startswith("turns/") for path in made)
    # Nor does it matter where the same bytes come from later on.
    code, said = slatemill("ingest", tmp_path / "s3" / "lake", places["disk"])
    assert (code, "already ingested" in said) == (0, True)
    assert tables(tmp_path / "s3" / "lake") == made


def test_a_bucket_is_a_folder_and_what_a_console_made_its_folders_of_is_no_file(s3, slatemill, tmp_path) -> None:
    name = s3.put("console", {"a.jsonl": line("ada"), "made/": b"", "made/b.jsonl": line("bob")})
    assert [file.name for file in files_of(f"s3://{name}")] == ["a.jsonl", "made/b.jsonl"]
    assert [file.name for file in files_of(f"s3://{name}/*/*")] == ["made/b.jsonl"]


def test_an_object_that_came_again_or_lies_elsewhere_too_is_no_second_batch(s3, own, slatemill, tmp_path) -> None:
    slatemill("init", tmp_path / "lake")
    s3.put(own, {"copy/other.jsonl": OBJECTS["in/a.jsonl"]})
    for key, already in (("in/a.jsonl", False), ("in/a.jsonl", True), ("copy/other.jsonl", True)):
        code, said = slatemill("ingest", tmp_path / "lake", f"s3://{own}/{key}")
        assert (code, "already ingested" in said) == (0, already)
    assert len(committed(Lake.open(str(tmp_path / "lake")))) == 1


def test_what_was_put_into_a_folder_since_is_seen_by_a_process_that_listed_it_before(s3, own) -> None:
    before = files_of(f"s3://{own}/in")
    s3.put(own, {"in/new.jsonl": line("gus")})
    assert len(files_of(f"s3://{own}/in")) == len(before) + 1


WRONG: dict[str, tuple[str, dict[str, str | None], str]] = {
    "no such bucket": ("s3://no-such-bucket-here", {}, "s3://no-such-bucket-here: there is no such file or folder"),
    "no such bucket of an object": ("s3://no-such-bucket-here/a.jsonl", {}, "there is no such file or folder"),
    "no such object": ("s3://{folder}/none.jsonl", {}, "s3://{folder}/none.jsonl: there is no such file or folder"),
    "no such folder": ("s3://{folder}/none/", {}, "there is no such file or folder"),
    "a glob that fits nothing": ("s3://{folder}/no*.jsonl", {}, "names no file"),
    "a folder without histories": ("s3://{folder}/notes", {}, "names no file"),
    "a bucket that is a glob": ("s3://*/in", {}, "begins with the name of one bucket"),
    "no bucket": ("s3://", {}, "begins with the name of one bucket"),
    "another secret": ("s3://{folder}/in", {"AWS_SECRET_ACCESS_KEY": "another/secret+one"}, "may not be read"),
    "another secret for a whole bucket": (
        "s3://{folder}",
        {"AWS_SECRET_ACCESS_KEY": "another/secret+one"},
        "AWS_SECRET",
    ),
    "another secret for a glob": ("s3://{folder}/*", {"AWS_SECRET_ACCESS_KEY": "another/secret+one"}, "AWS_SECRET"),
    "another key": ("s3://{folder}/in", {"AWS_ACCESS_KEY_ID": "AKSOMEBODY"}, "s3://{folder}/in may not be read"),
    "no key": (
        "s3://{folder}/in",
        {"AWS_ACCESS_KEY_ID": None, "AWS_SECRET_ACCESS_KEY": None},
        "Unable to locate credentials. Check AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    ),
    "half a key": ("s3://{folder}/in", {"AWS_SECRET_ACCESS_KEY": None}, "missing: AWS_SECRET_ACCESS_KEY"),
    "no such profile of AWS": ("s3://{folder}/in", {"AWS_PROFILE": "nobody"}, "nobody"),
    "an endpoint that is none": ("s3://{folder}/in", {"AWS_ENDPOINT_URL": "somewhere"}, "Invalid endpoint: somewhere"),
    "nobody at the endpoint": (
        "s3://{folder}/in",
        {"AWS_ENDPOINT_URL": "http://127.0.0.1:1", "AWS_MAX_ATTEMPTS": "1"},
        "s3://{folder}/in cannot be reached: Could not connect to the endpoint URL",
    ),
    "an endpoint without a name": (
        "s3://{folder}/in",
        {"AWS_ENDPOINT_URL": "http://no-such-host.invalid", "AWS_MAX_ATTEMPTS": "1"},
        "Could not connect to the endpoint URL",
    ),
    "credentials in the endpoint": (
        "s3://{folder}/in",
        {"AWS_ENDPOINT_URL": "http://AKGIVEN:another-secret-one@127.0.0.1:1", "AWS_MAX_ATTEMPTS": "1"},
        "s3://{folder}/in cannot be reached",
    ),
    "credentials in the address": ("s3://AKGIVEN:another-secret-one@{folder}/in", {}, "come from the environment"),
    "a secret with a slash in the address": ("s3://AKGIVEN:another/secret+one@{folder}/in", {}, "from the environment"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_said_in_words_with_code_2_and_no_secret(
    what, folder, environment, slatemill, tmp_path
) -> None:
    source, variables, expected = WRONG[what]
    slatemill("init", tmp_path / "lake")
    environment(variables)
    began = time.monotonic()
    code, said = slatemill("ingest", tmp_path / "lake", source.format(folder=folder))
    assert time.monotonic() - began < reach.FIRST_ANSWER
    assert (code, expected.format(folder=folder) in said) == (2, True), said
    assert len(said) < 400
    assert [secret for secret in (SECRET, KEY, "secret+one", "another-secret-one") if secret in said] == []
    assert uncommitted(Lake.open(str(tmp_path / "lake"))) == []


@pytest.fixture
def silent() -> Iterator[str]:
    """An endpoint that takes every connection and never answers."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(100)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def test_an_endpoint_that_never_answers_is_given_up_and_the_process_ends(s3, silent, tmp_path) -> None:
    Lake.init(str(tmp_path / "lake"))
    program = "from jobs import cli, reach; reach.FIRST_ANSWER = 1.0; cli.main()"
    command = [sys.executable, "-c", program, "ingest", str(tmp_path / "lake"), "s3://chats/in"]
    ended = subprocess.run(
        command, check=False, env={**os.environ, "AWS_ENDPOINT_URL": silent}, capture_output=True, text=True, timeout=60
    )
    said = " ".join(ended.stderr.split())
    assert (ended.returncode, ended.stdout) == (2, "")
    assert said.startswith("s3://chats/in cannot be reached: no answer within 1 s. Check AWS_ENDPOINT_URL")
    assert len(said) < 300


SAID_BY = {
    "variables of AWS": {"AWS_ENDPOINT_URL": "{endpoint}", "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET},
    "the endpoint of S3 alone": {
        "AWS_ENDPOINT_URL": "http://127.0.0.1:1",
        "AWS_ENDPOINT_URL_S3": "{endpoint}",
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
    },
    "a profile of AWS": {"AWS_PROFILE": "slates", "AWS_CONFIG_FILE": "{folder}/config"},
    "variables of fsspec": {
        "FSSPEC_S3_ENDPOINT_URL": "{endpoint}",
        "FSSPEC_S3_KEY": KEY,
        "FSSPEC_S3_SECRET": SECRET,
    },
    "fsspec before AWS": {
        "AWS_ENDPOINT_URL": "http://127.0.0.1:1",
        "AWS_ACCESS_KEY_ID": "AKSOMEBODY",
        "AWS_SECRET_ACCESS_KEY": "else",
        "FSSPEC_S3_ENDPOINT_URL": "{endpoint}",
        "FSSPEC_S3_KEY": KEY,
        "FSSPEC_S3_SECRET": SECRET,
    },
    "a file of fsspec": {"FSSPEC_CONFIG_DIR": "{folder}"},
    "nobody, for a public bucket": {"AWS_ENDPOINT_URL": "{endpoint}", "FSSPEC_S3_ANON": "true"},
}
"""Ways to say where S3 is and who asks, as docs/formats.md has them: variables of the environment."""


@pytest.mark.parametrize("way", SAID_BY)
def test_where_s3_is_and_who_asks_is_said_by(way, s3, environment, tmp_path) -> None:
    s3.put(PUBLIC_BUCKET, {"in/a.jsonl": line("ada")})
    keys = f"aws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\nendpoint_url = {s3.endpoint}\n"
    (tmp_path / "config").write_text(f"[profile slates]\n{keys}")
    as_json = {"s3": {"key": KEY, "secret": SECRET, "endpoint_url": s3.endpoint}}
    (tmp_path / "conf.json").write_text(json.dumps(as_json))
    given = {name: value.format(endpoint=s3.endpoint, folder=tmp_path) for name, value in SAID_BY[way].items()}
    environment({"AWS_ENDPOINT_URL": None, "AWS_ACCESS_KEY_ID": None, "AWS_SECRET_ACCESS_KEY": None, **given})
    assert [file.name for file in files_of(f"s3://{PUBLIC_BUCKET}/in")] == ["a.jsonl"]


def test_a_bad_row_stands_in_quarantine_by_its_place_below_the_source_and_no_secret_reaches_the_lake(
    folder, slatemill, tmp_path
) -> None:
    slatemill("init", tmp_path / "lake")
    code, said = slatemill("ingest", tmp_path / "lake", f"s3://{folder}/bad")
    assert (code, "1 row(s) in quarantine" in said) == (0, True), said
    (row,) = pl.read_parquet(tmp_path / "lake" / "quarantine" / "ingest" / "**" / "*.parquet").to_dicts()
    assert (row["file"], row["place"], row["code"]) == ("deep/x.jsonl", "line 2", "wrong_shape")
    holding = [path.name for path in (tmp_path / "lake").rglob("*") if path.is_file() and held(path.read_bytes())]
    assert holding == []


def held(data: bytes) -> bool:
    return any(word.encode() in data for word in (KEY, SECRET, "127.0.0.1"))


def test_a_signed_address_is_read_and_its_signature_is_neither_said_nor_stored(s3, folder, slatemill, tmp_path) -> None:
    slatemill("init", tmp_path / "lake")
    signed = s3.signed(f"{folder}/bad/deep/x.jsonl")
    assert "Signature=" in signed
    for expected in ("1 row(s) in quarantine", "already ingested"):
        code, said = slatemill("ingest", tmp_path / "lake", signed)
        assert (code, expected in said) == (0, True), said
        assert "ignature" not in said
        assert f"/{folder}/bad/deep/x.jsonl: " in said
    (row,) = pl.read_parquet(tmp_path / "lake" / "quarantine" / "ingest" / "**" / "*.parquet").to_dicts()
    assert row["file"] == "x.jsonl"


@pytest.mark.parametrize("as_json", [(), ("--json",)], ids=["for people", "for machines"])
def test_a_signature_is_not_said_where_too_much_of_what_it_opens_is_put_aside(
    as_json, s3, own, slatemill, tmp_path
) -> None:
    s3.put(own, {"half.jsonl": line("eve") + b'{"history_id": 3, "sessions": []}\n'})
    slatemill("init", tmp_path / "lake")
    code, said = slatemill("ingest", tmp_path / "lake", s3.signed(f"{own}/half.jsonl"), *as_json)
    assert (code, "more than 1% of the rows of" in said) == (3, True), said
    assert "Signature=" not in said


@pytest.mark.parametrize("source", ["in/a.jsonl", "in/later/d.jsonl.gz", "in", "in/later/*.gz"])
def test_an_object_that_is_written_again_between_two_looks_is_refused_and_leaves_no_claim(
    source, s3, own, tmp_path, monkeypatch
) -> None:
    lake = Lake.init(str(tmp_path / "lake"))
    real = ingest_job.source_digest

    def meanwhile(*arguments: Any, **named: Any) -> Any:
        """The digests as they are; then somebody writes every object again."""
        found = real(*arguments, **named)
        for key, data in OBJECTS.items():
            changed = line("zoe") + (gzip.decompress(data) if key.endswith(".gz") else data)
            s3.put(own, {key: gzip.compress(changed) if key.endswith(".gz") else changed})
        return found

    monkeypatch.setattr(ingest_job, "source_digest", meanwhile)
    with pytest.raises((IngestError, NotReached), match=r"s3://\S+ was written again meanwhile: ingest it again"):
        ingest(lake, f"s3://{own}/{source}", "native", {})
    assert (committed(lake), uncommitted(lake)) == ([], [])


def test_an_object_that_goes_between_two_looks_is_said_to_be_missing_and_leaves_no_claim(
    s3, own, tmp_path, monkeypatch
) -> None:
    lake = Lake.init(str(tmp_path / "lake"))
    real = ingest_job.source_digest

    def meanwhile(*arguments: Any, **named: Any) -> Any:
        found = real(*arguments, **named)
        s3.delete(f"{own}/in/later/d.jsonl.gz")
        return found

    monkeypatch.setattr(ingest_job, "source_digest", meanwhile)
    with pytest.raises(NotReached, match=r"in/later/d\.jsonl\.gz: there is no such file"):
        ingest(lake, f"s3://{own}/in", "native", {})
    assert (committed(lake), uncommitted(lake)) == ([], [])


@pytest.fixture
def fetched(s3: Server) -> Iterator[list[int]]:
    """A list that grows by every piece of an object that this process fetches: its bytes."""
    asked: list[int] = []

    def note(params: dict[str, Any], **_: Any) -> None:
        first, last = params["headers"]["Range"].removeprefix("bytes=").split("-")
        asked.append(int(last) + 1 - int(first))

    events = fsspec.filesystem("s3").s3.meta.events
    events.register("before-call.s3.GetObject", note)
    yield asked
    events.unregister("before-call.s3.GetObject", note)


def test_an_object_is_fetched_twice_and_its_beginning_once_more_to_tell_its_format(
    s3, fetched, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(reach, "AHEAD", 1 << 16)
    data = b"".join(line(f"h{at}", "word " * 200) for at in range(500))
    s3.put("own", {"big.jsonl": data})
    ingest(Lake.init(str(tmp_path / "lake")), "s3://own/big.jsonl", "auto", {})
    first = fetched[0]
    assert first < len(data) / 4
    assert sum(fetched) == 2 * len(data) + first


def test_a_large_object_is_never_in_memory_as_a_whole(s3) -> None:
    ahead = 4 << 20
    s3.put("own", {"large.bin": random.Random(1).randbytes(12 * ahead)})
    program = (
        "import re, sys\n"
        "from pathlib import Path\n"
        "from jobs import reach\n"
        "from jobs.sources import files_of\n"
        "def peak(): return int(re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1]) * 1024\n"
        "reach.AHEAD = int(sys.argv[1])\n"
        "(file,) = files_of('s3://own/large.bin')\n"
        "before = peak()\n"
        "file.digest()\n"
        "print(peak() - before)\n"
    )
    command = [sys.executable, "-c", program, str(ahead)]
    ended = subprocess.run(command, capture_output=True, check=True, text=True, timeout=120)
    assert 0 < int(ended.stdout) < 6 * ahead


def test_the_command_ends_with_nothing_on_standard_error_but_its_progress(folder, tmp_path) -> None:
    Lake.init(str(tmp_path / "lake"))
    command = [sys.executable, str(DRIVER), str(tmp_path / "peak")]
    command += ["ingest", str(tmp_path / "lake"), f"s3://{folder}/in"]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    assert f"s3://{folder}/in: native, batch 000001-" in ended.stdout
    assert [said for said in ended.stderr.splitlines() if not said.startswith("ingest: ")] == []
