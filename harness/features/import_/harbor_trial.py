"""Reader of `TRIAL/result.json`, Harbor's facts on `TRIAL/agent/trajectory.json`."""

from pathlib import Path
from typing import Any, cast

from harness.run.store.files import read_json

LARGEST_RESULT = 4 << 20
TRAJECTORY = "trajectory.json"


def trial_facts(path: Path) -> dict[str, Any]:
    """Return the facts of a trajectory's trial, named like fields of its `extra`.

    Args:
        path: path of the trajectory.

    Returns:
        `task_id`, `passed` (if there is one reward and it is 0 or 1) and `error`, as far as known.
    """
    if path.name != TRAJECTORY:
        return {}
    try:
        found: Any = read_json(path.parent.parent / "result.json", LARGEST_RESULT)
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    result = cast("dict[str, Any]", found)
    facts: dict[str, Any] = {}
    if isinstance(result.get("task_name"), str):
        facts["task_id"] = result["task_name"]
    match result:
        case {"verifier_result": {"rewards": {**rewards}}} if len(rewards) == 1:
            reward = next(iter(rewards.values()))
            if reward in (0, 1):
                facts["passed"] = reward == 1
        case _:
            pass
    match result:
        case {"exception_info": {"exception_type": str(kind)}} if "Timeout" not in kind:
            facts["error"] = kind
        case _:
            pass
    return facts
