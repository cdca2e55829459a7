"""CodeT's selection on its published samples, against its own script.

    python tests/benchmarks/codet.py CODET CACHE

CODET is the folder `CodeT` of https://github.com/microsoft/CodeT, CACHE the `--cache_dir` of its
`main.py`, which holds what each solution passed. Its script ranks by these results, and so does
`harness.features.published.codet.agreement`. Every score is compared, and the rate of the first
choice; ties are shared out, as the script does.
"""

import pickle
import statistics
import sys
from collections import Counter, defaultdict
from importlib import import_module
from pathlib import Path
from typing import Any

from harness.features.published.codet import agreement

LIMIT = 5
"""Tests that the script takes from each answer."""


def main(codet: Path, cache: Path) -> None:
    """Print the largest difference of a score, and both rates."""
    sys.path.insert(0, str(codet))
    ranking: Any = import_module("src.agreement")
    reading: Any = import_module("src.postprocess")
    data = codet / "data"
    made = data / "generated_data" / "HumanEval_codegen16B_temp0.8_topp0.95_num100_max300_"
    right: list[dict[str, Any]] = _read(cache / "ground_truth_exec_result.pkl")
    ran: list[dict[str, Any]] = _read(cache / "dual_exec_result.pkl")
    tests: dict[str, list[list[str]]] = reading.PostProcessor.map_task_id_for_test_case(
        f"{made}test_case.jsonl", data / "dataset" / "HumanEval_for_test_case_generation.jsonl"
    )
    solved: dict[str, dict[str, bool]] = defaultdict(dict)
    samples: dict[str, list[str]] = defaultdict(list)
    for each in right:
        samples[each["task_id"]].append(each["completion"])
        solved[each["task_id"]][each["completion"]] = each["passed"]
    managed = ranking.DataManager(ran, right, tests, LIMIT)
    theirs: Any = ranking.DualAgreement(managed).get_sorted_solutions_without_iter()
    passed: dict[str, dict[str, set[str]]] = defaultdict(dict)
    for each in ran:
        passed_tests = {
            t for t, ok in zip(each["test_cases"], each["result"], strict=False) if ok is True
        }
        passed[each["task_id"]][each["completion"]] = passed_tests if each["passed"] else set()
    worst, rates = 0.0, list[float]()
    for task, codes in samples.items():
        times = Counter(test for answer in tests[task] for test in answer[:LIMIT])
        unique = list(times)
        rows = [[test in passed[task].get(code, ()) for test in unique] for code in codes]
        scores = agreement(rows, [times[test] for test in unique])
        own = {code: score for group, score in theirs.get(task, ()) for code in group}
        pairs = zip(codes, scores, strict=True)
        worst = max([worst, *(abs(own.get(code, 0.0) - score) for code, score in pairs)])
        best = max(scores)
        chosen = [code for code, score in zip(codes, scores, strict=True) if score == best]
        rates.append(statistics.fmean(solved[task][code] for code in chosen))
    sampled = [statistics.fmean(solved[task][c] for c in codes) for task, codes in samples.items()]
    print(f"{len(samples)} problems, {sum(map(len, samples.values())):,} solutions")
    print(f"largest difference of a score: {worst:.2e}")
    print(f"first choice: {statistics.fmean(rates):.6f}")
    print(f"a random one: {statistics.fmean(sampled):.6f}")


def _read(path: Path) -> Any:
    with path.open("rb") as file:
        return pickle.load(file)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
