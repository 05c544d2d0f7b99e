"""`slatemill demo`: the whole path on generated histories, ending with a slate and the completeness table."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from cluster import snapshot, tables
from cluster.lake import Lake
from jobs import report
from jobs.config import load_profile
from jobs.evaluate import evaluate, log
from jobs.ingest import ingest
from jobs.run import Resources, RunFailed, run
from jobs.synth import synth
from jobs.train import train
from pipeline import schemas

_SHOWN_LINES = 24
_HOLDOUT = 0.5


def demo(folder: Path, histories: int, sessions: int, workers: int | None, out: Console) -> None:
    """Generates histories, ingests them, trains on half, runs all, and shows what came of the other half.

    `folder` is emptied first. Raises RunFailed when a shard failed.
    """
    if folder.exists():
        if not (folder / "lake" / "lake.json").exists() and any(folder.iterdir()):
            raise FileNotFoundError(f"{folder} holds something that is no demo; name another --folder")
        shutil.rmtree(folder)
    profile = load_profile("agentmemrec")
    resources = Resources(workers=workers)
    out.rule("1. generated histories")
    source = folder / "histories.json"
    synth(source, histories, sessions, seed=0)
    lake = Lake.init(str(folder / "lake"))
    arrived = ingest(lake, str(source), "longmemeval", {})
    out.print(f"{histories} histories, {arrived.counts.get('turns', 0):,} turns", highlight=False)
    out.rule("2. a ranker, trained on half of them")
    trained = train(lake, profile, resources, _HOLDOUT, folder / "ranker")
    report.show_training(trained, out)
    out.rule("3. slates")
    result, run_id = run(lake, profile, resources, trained.ranker, str(folder / "ranker"))
    report.show_run(result, run_id, out)
    report.show_trouble(result, "slatemill demo", out)
    if result.exit_code:
        raise RunFailed(result)
    show_slate(lake, run_id, out)
    out.rule("4. completeness, on the other half")
    measured, about = evaluate(lake, profile.name, run_id, draws=10_000, seed=0)
    report.show_evaluation(measured, about, out)
    log(measured, about)


def show_slate(lake: Lake, run_id: str, out: Console) -> None:
    """One request's slate at the smallest budget, with its question."""
    taken = snapshot.load(lake, run_id)
    slates = tables.read(lake.storage, snapshot.paths_of(taken, "slates"), schemas.SLATES)
    requests = tables.read(lake.storage, snapshot.paths_of(taken, "requests"), schemas.REQUESTS)
    smallest = pc.min(slates["budget"])
    of_ranker = slates.filter(
        pc.and_(pc.equal(slates["policy"], "lambdarank"), pc.equal(slates["budget"], smallest))
    ).sort_by("request_id")
    slate = of_ranker.slice(0, 1).to_pylist()[0]
    question = requests.filter(pc.equal(requests["request_id"], pa.scalar(slate["request_id"], pa.large_string())))
    lines = slate["text"].splitlines()
    more = f"\n... {len(lines) - _SHOWN_LINES} more lines" if len(lines) > _SHOWN_LINES else ""
    shown = Text("\n".join(lines[:_SHOWN_LINES]) + more)
    title = f"a slate: {slate['n_tokens']} of {slate['budget']} tokens, {len(slate['items'])} turns"
    out.print(Text(f"request: {question['text'][0].as_py()}"))
    out.print(Panel(shown, title=title))
