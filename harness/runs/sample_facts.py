"""What a sample's result says of its problem."""

from typing import Any

from harness.problem import Problem
from harness.run.store.transcript import sample_name


def facts_of(problem: Problem, index: int) -> dict[str, Any]:
    """What a result says of its sample whatever came of it: the sample, and facts to sort by."""
    return {
        "sample": sample_name(problem.id, index),
        "problem_id": problem.id,
        "index": index,
        "title": problem.title,
        "problem_hash": problem.content_hash,
        "platform": problem.platform,
        "difficulty": problem.difficulty,
        "tags": problem.tags,
        "release_date": problem.release_date,
        "known_issues": problem.known_issues,
    }
