"""What the categories of LoCoMo and LongMemEval mean for scoring; any other category is scored as a plain question.

Names are as in the sources: LoCoMo's (and REALTALK's) are numbers, LongMemEval's are words.
"""

from __future__ import annotations

MULTI_ANSWER = "1"
"""LoCoMo: the gold answer is a list with commas between (task_eval/evaluation.py, `f1`)."""

INFERRED = "3"
"""LoCoMo: what follows a semicolon in the gold answer explains it, and is not scored by words."""

ABSTAINS = ("no information available", "not mentioned")
"""LoCoMo: what an answer to an adversarial question has to say, in lower case."""

JUDGED_BY = {
    "1": "judge_fact",
    "2": "judge_dates",
    "3": "judge_inference",
    "4": "judge_fact",
    "single-session-user": "judge_fact",
    "single-session-assistant": "judge_fact",
    "multi-session": "judge_fact",
    "temporal-reasoning": "judge_temporal",
    "knowledge-update": "judge_update",
    "single-session-preference": "judge_preference",
}
"""The judge's instructions (pipeline.llm.prompts) by category; those of LongMemEval follow its evaluate_qa.py."""

JUDGED_PLAIN = "judge_fact"
JUDGED_ADVERSARIAL = "judge_abstention"


def judged_by(category: str | None, adversarial: bool) -> str:
    """The judge's instructions for a question."""
    return JUDGED_ADVERSARIAL if adversarial else JUDGED_BY.get(category or "", JUDGED_PLAIN)
