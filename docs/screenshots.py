"""`make screenshots`: a small lake of generated histories, and what the commands print of it, as docs/img/*.svg."""

from __future__ import annotations

import io
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from dataclasses import replace
from pathlib import Path

import polars as pl
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from cluster.lake import Lake
from jobs.config import load_profile
from jobs.evaluate import evaluate
from jobs.ingest import ingest
from jobs.plan import plan
from jobs.plan_report import show_plan
from jobs.report import show_evaluation, show_run
from jobs.run import Resources, run
from jobs.show import Shown, show
from jobs.show_report import show_request
from jobs.show_slate_report import show_slate
from jobs.status import status
from jobs.status_report import show_status
from jobs.synth import synth, synth_agents
from jobs.train.job import Wanted, train
from models.registry import load_ranker

IMAGES = Path(__file__).parent / "img"
HISTORIES, SESSIONS, WORKERS, WIDTH = 60, 12, 2, 88
PROFILE = "small.yaml"
PROFILE_TEXT = """\
name: small
embedder: null
recall: {channels: [bm25, bm25_window], pool_size: 128}
slates: {policies: [recall_order, lambdarank, oracle], budgets: [300, 900], style: lean}
"""
MEMORY_PROFILE = "remembering.yaml"
MEMORY_TEXT = """\
name: remembering
embedder: null
recall: {channels: [bm25], pool_size: 128}
memory: {cut: {reader_tokens: 200, agent_tokens: 200}, piece_tokens: 64, excerpt_tokens: 80, rho_reader: 0.2}
slates: {policies: [flexamem], budgets: [1000], style: lean}
"""
_FONTS = re.compile(r"@font-face \{.*?\}", re.DOTALL)


def main(images: Path = IMAGES) -> None:
    """Makes every picture anew, in `images`."""
    images.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        # The ranker is registered in a store that goes with the folder.
        os.environ["MLFLOW_TRACKING_URI"] = f"sqlite:///{folder}/mlflow.db"
        _take_all(images)
        _take_memory(images)


def _take_all(images: Path) -> None:
    """A first night without a ranker; then one is trained, and of the second night all is shown."""
    Path(PROFILE).write_text(PROFILE_TEXT, encoding="utf-8")
    profile = load_profile(PROFILE)
    lake = Lake.init("lake")
    _arrive(lake, seed=0)
    run(lake, profile, Resources(WORKERS), None, None)
    train(lake, profile, Resources(WORKERS), Wanted(0.5))
    champion = load_ranker(None, profile.name)
    assert champion is not None
    _arrive(lake, seed=1)
    with picture(images, "plan", "plan lake") as out:
        show_plan(plan(lake, profile, champion[0], workers=WORKERS), f"slatemill run lake --profile {PROFILE}", out)
    result, run_id = run(lake, profile, Resources(WORKERS), *champion)
    with picture(images, "run", "run lake") as out:
        show_run(result, run_id, out)
    with picture(images, "status", "status lake") as out:
        show_status(replace(status(lake, profile, champion[0]), lake="lake"), PROFILE, out)
    shown = _telling(lake, profile.name)
    with picture(images, "show", f"show lake {shown.request['request_id']}") as out:
        show_request(shown, out)
    measured, about = evaluate(lake, profile.name, None, draws=10_000, seed=0)
    with picture(images, "evaluate", "evaluate lake") as out:
        show_evaluation(measured, about, out)


def _take_memory(images: Path) -> None:
    """A slate of each recovery mode: pieces for a question, units for the next step of a task."""
    Path(MEMORY_PROFILE).write_text(MEMORY_TEXT, encoding="utf-8")
    profile = load_profile(MEMORY_PROFILE)
    lake = Lake.init("remembered")
    synth(Path("chats.json"), 6, 8, seed=3)
    synth_agents(Path("agents.json"), 4, (40, 50), seed=3)
    ingest(lake, "chats.json", "longmemeval", {})
    ingest(lake, "agents.json", "mini-swe-agent", {"requests": "every-step"})
    run(lake, profile, Resources(WORKERS), None, None)
    for mode, shown in (("pieces", _resolved(lake, "reader")), ("units", _resolved(lake, "agent"))):
        assert shown.slate is not None
        command = f"show lake {shown.request['request_id']}"
        with picture(images, f"show-{mode}", command, MEMORY_PROFILE) as out:
            out.print(Text(shown.request["text"].splitlines()[0], style="bold"))
            show_slate(shown.slate, ("bm25",), None, out)


def _resolved(lake: Lake, mode: str) -> Shown:
    """The first question whose slate has records and all of its evidence, or the first step, well into a task, whose
    slate has all three resolutions."""
    asked = lake.scan("requests").filter(mode=mode).sort("history_id", "seen_turn", "request_id")
    if mode == "agent":
        asked = asked.filter(pl.col("seen_turn") > 30)
    wanted = {"record", "excerpt"} if mode == "reader" else {"record", "excerpt", "raw"}
    for history_id, request_id in asked.select("history_id", "request_id").collect().iter_rows():
        shown = show(lake, "remembering", None, request_id, history_id)
        assert shown.slate is not None
        marked = shown.slate.turns["evidence"].drop_nulls().n_unique()
        told = mode == "agent" or shown.evidence.turns.height > 0
        if told and set(shown.slate.turns["resolution"]) == wanted and marked == shown.evidence.turns.height:
            return shown
    raise LookupError(f"no slate of mode {mode} has parts of resolutions {', '.join(sorted(wanted))}")


def _arrive(lake: Lake, seed: int) -> None:
    source = Path(f"night-{seed}.json")
    synth(source, HISTORIES, SESSIONS, seed)
    ingest(lake, str(source), "longmemeval", {})


def _telling(lake: Lake, profile_name: str) -> Shown:
    """The first request of an unseen history of which the slate shown has one evidence turn, and lost another."""
    asked = lake.scan("requests").select("request_id").sort("request_id").collect()
    for request_id in asked["request_id"]:
        shown = show(lake, profile_name, None, request_id)
        assert shown.slate is not None
        in_slate = shown.slate.turns["evidence"].drop_nulls().len()
        # A note says that the ranker was trained on the history.
        if (in_slate, shown.evidence.turns.height) == (1, 2) and not shown.notes:
            return shown
    raise LookupError("no request has an evidence turn in its slate, and another that is not")


@contextmanager
def picture(images: Path, name: str, command: str, profile: str = PROFILE) -> Iterator[Console]:
    """A terminal whose screen becomes `<name>.svg`, under the command that was typed."""
    out = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    yield out
    drawn = out.export_svg(title=f"slatemill {command} --profile {profile}", theme=MONOKAI, unique_id=name)
    # Fonts from elsewhere would make every reader's browser ask there: the reader's own will do.
    (images / f"{name}.svg").write_text(_FONTS.sub("", drawn), encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
