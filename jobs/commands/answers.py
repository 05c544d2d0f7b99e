"""What is made of slates by language models: answer, judge."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from jobs.commands.console import err, given_to, out, say_json
from jobs.commands.options import Address, AsJson, Backfill, LakeUrl, ProfileName, Workers
from jobs.names import DEFAULT_PROFILE

app = typer.Typer()


class ShapeName(StrEnum):
    """As pipeline.answers.shapes has them, which is not imported for help's sake."""

    longmemeval = "longmemeval"
    notes = "notes"
    locomo = "locomo"


Policies = Annotated[
    list[str] | None, typer.Option("--policy", help="Slates of this policy; several times. Default: all.")
]
OfBudgets = Annotated[
    list[int] | None, typer.Option("--budget", help="Slates of this budget; several times. Default: all.")
]
Deadline = Annotated[float, typer.Option(help="Seconds after which a shard is given to another worker.")]


@app.command(epilog="Example: slatemill answer lake --profile lexical --shape locomo")
def answer(
    lake: LakeUrl,
    profile: ProfileName = DEFAULT_PROFILE,
    policy: Policies = None,
    budget: OfBudgets = None,
    shape: Annotated[ShapeName, typer.Option(help="How the reader is asked; notes: extract first.")] = (
        ShapeName.longmemeval
    ),
    repeats: Annotated[int, typer.Option(min=1, help="Answers to each slate; several are drawn by seeds.")] = 1,
    limit: Annotated[
        int | None, typer.Option(min=1, help="So many requests only, drawn alike for every policy.")
    ] = None,
    workers: Workers = None,
    address: Address = None,
    backfill: Backfill = None,
    deadline: Deadline = 7200.0,
    as_json: AsJson = False,
) -> None:
    """Let the profile's reader, a language model, answer the requests of its latest run from their slates."""
    from cluster.lake import Lake
    from jobs import report
    from jobs.answer import Wanted
    from jobs.answer import answer as answer_job
    from jobs.answers_report import show_answered
    from jobs.config import load_profile
    from jobs.costs import costs
    from jobs.run import Resources
    from jobs.served import reader_of

    opened, chosen = Lake.open(lake), load_profile(profile)
    wanted = Wanted(tuple(policy or ()), tuple(budget or ()), shape.value, repeats, limit)
    resources = Resources(workers, address, tuple(backfill or ()), deadline)
    answered = answer_job(opened, chosen, wanted, reader_of(chosen), resources)
    result = answered.report
    if as_json:
        counts = {"answers": answered.answers, "failed": answered.failed}
        say_json({"lake": opened.url, "profile": chosen.name, "run_id": answered.run_id, **result.as_dict(), **counts})
    else:
        report.show_run(result, answered.run_id, out)
        report.show_costs(costs(chosen, result.stages), out)
        show_answered(answered, out)
    report.show_trouble(result, given_to("answer"), lake, err)
    if result.exit_code:
        raise typer.Exit(result.exit_code)


@app.command(epilog="Example: slatemill judge lake --profile lexical")
def judge(
    lake: LakeUrl,
    profile: ProfileName = DEFAULT_PROFILE,
    policy: Policies = None,
    budget: OfBudgets = None,
    shape: Annotated[list[ShapeName] | None, typer.Option(help="Answers in this shape. Default: all.")] = None,
    judgings: Annotated[int, typer.Option(min=1, help="Judgements of each answer; several are drawn by seeds.")] = 1,
    workers: Workers = None,
    address: Address = None,
    backfill: Backfill = None,
    deadline: Deadline = 7200.0,
    as_json: AsJson = False,
) -> None:
    """Say how good the answers to a profile's latest slates are: by their words, and by the profile's judge.

    Without a judge no model is called, and their words alone are compared.
    """
    from cluster.lake import Lake
    from jobs import report
    from jobs.answers_report import show_answers
    from jobs.config import load_profile
    from jobs.costs import costs
    from jobs.judge import ToJudge
    from jobs.judge import judge as judge_job
    from jobs.run import Resources
    from jobs.served import judge_of

    opened, chosen = Lake.open(lake), load_profile(profile)
    wanted = ToJudge(tuple(policy or ()), tuple(budget or ()), tuple(each.value for each in shape or ()), judgings)
    resources = Resources(workers, address, tuple(backfill or ()), deadline)
    judged = judge_job(opened, chosen, wanted, judge_of(chosen), resources)
    if as_json:
        told = {} if judged.report is None else {"run_id": judged.run_id, **judged.report.as_dict()}
        rows = [row.as_dict() for row in judged.rows]
        say_json({"lake": opened.url, "profile": chosen.name, **told, "answers": rows})
    elif judged.report is not None:
        report.show_run(judged.report, str(judged.run_id), out)
        report.show_costs(costs(chosen, judged.report.stages), out)
    if not as_json:
        show_answers(judged.rows, out)
    if judged.report is not None:
        report.show_trouble(judged.report, given_to("judge"), lake, err)
        if judged.report.exit_code:
            raise typer.Exit(judged.report.exit_code)
