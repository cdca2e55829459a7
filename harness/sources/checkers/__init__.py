"""Checkers for problems with several right answers, of which tests hold one.

A checker accepts every answer that is right by the statement, and no other. Each module here is
sent to the sandbox as text, together with the modules here that it imports; otherwise it may import
only the standard library. To add a checker, write a function and a line of a table below.

The text of a module, docstrings included, is part of the content hash of its problems.
"""

import ast
from collections.abc import Mapping
from functools import cache
from importlib import resources

from harness.problem import Checker

_IN_ANY_CASE = ("spelling", "in_any_case")

_LIVECODEBENCH = {
    "1873_A": _IN_ANY_CASE,
    "1883_B": _IN_ANY_CASE,
    "abc311_c": ("programs", "directed_cycle"),
    "abc314_e": ("tolerances", "printed_within(1e-5)"),
    "abc315_e": ("graphs", "reading_order"),
    "abc315_f": ("tolerances", "printed_within(1e-5)"),
    "abc319_c": ("tolerances", "printed_within(1e-8)"),
    "abc324_f": ("tolerances", "printed_within(1e-9)"),
    "abc326_d": ("programs", "letters_in_a_grid"),
    "abc327_e": ("tolerances", "printed_within(1e-6)"),
    "abc333_e": ("programs", "fewest_potions"),
    "abc335_d": ("arrangements", "spiral"),
    "abc343_a": ("programs", "not_the_sum"),
    "abc343_e": ("programs", "three_cubes"),
    "abc350_e": ("tolerances", "printed_within(1e-6)"),
    "abc362_c": ("programs", "sum_of_zero"),
    "abc363_f": ("arrangements", "palindromic_formula"),
    "abc366_g": ("graphs", "xor_of_neighbours"),
    "abc373_g": ("arrangements", "segments_that_do_not_cross"),
    "abc374_d": ("tolerances", "printed_within(1e-6)"),
    "abc375_b": ("tolerances", "printed_within(1e-6)"),
    "abc385_f": ("tolerances", 'printed_within(1e-9, exactly=("-1",))'),
    "abc392_d": ("tolerances", "printed_within(1e-8)"),
    "abc395_a": _IN_ANY_CASE,
    "abc396_e": ("graphs", "least_xor_sequence"),
    "abc397_d": ("arrangements", "difference_of_cubes"),
    "arc181_c": ("arrangements", "ordered_rows_and_columns"),
    "arc183_d": ("trees", "farthest_leaves"),
    "arc185_c": ("programs", "three_places"),
    "arc188_c": ("graphs", "confused_villagers"),
    "arc190_a": ("arrangements", "cheapest_cover"),
    "arc191_c": ("arrangements", "order_of_a_power"),
    "arc192_a": _IN_ANY_CASE,
    "arc192_b": _IN_ANY_CASE,
    "arc195_c": ("arrangements", "closed_walk_of_pieces"),
}
"""Module of a checker and the expression that makes it, by question id."""

_ANY_ORDER = (
    "all-divisions-with-the-highest-score-of-a-binary-array",
    "ambiguous-coordinates",
    "average-height-of-buildings-in-each-segment",
    "binary-tree-paths",
    "binary-watch",
    "describe-the-painting",
    "double-modular-exponentiation",
    "eight-queens-lcci",
    "find-all-groups-of-farmland",
    "find-all-lonely-numbers-in-the-array",
    "find-all-numbers-disappeared-in-an-array",
    "find-all-people-with-secret",
    "find-all-possible-recipes-from-given-supplies",
    "find-and-replace-pattern",
    "find-common-characters",
    "find-indices-of-stable-mountains",
    "find-mode-in-binary-search-tree",
    "find-original-array-from-doubled-array",
    "find-servers-that-handled-most-number-of-requests",
    "find-the-peaks",
    "find-words-containing-character",
    "frequencies-of-shortest-supersequences",
    "generate-binary-strings-without-adjacent-zeros",
    "generate-parentheses",
    "intersection-of-two-arrays",
    "invalid-transactions",
    "k-closest-points-to-origin",
    "kill-process",
    "letter-combinations-of-a-phone-number",
    "lucky-numbers-in-a-matrix",
    "minimum-height-trees",
    "minimum-number-of-vertices-to-reach-all-nodes",
    "most-frequent-subtree-sum",
    "most-popular-video-creator",
    "n-queens",
    "palindrome-pairs",
    "palindrome-partitioning",
    "path-sum-ii",
    "powerful-integers",
    "queens-that-can-attack-the-king",
    "remove-methods-from-project",
    "remove-sub-folders-from-the-filesystem",
    "repeated-dna-sequences",
    "restore-ip-addresses",
    "simplified-fractions",
    "single-number-iii",
    "string-matching-in-an-array",
    "substring-with-concatenation-of-all-words",
    "the-two-sneaky-numbers-of-digitville",
    "top-k-frequent-elements",
    "two-sum",
    "uncommon-words-from-two-sentences",
    "word-ladder-ii",
    "word-subsets",
)
"""LeetCode's slugs of lists whose items may be in any order."""

_ANY_ORDER_INSIDE = (
    "3sum",
    "4sum",
    "combination-sum",
    "combination-sum-ii",
    "combination-sum-iii",
    "critical-connections-in-a-network",
)
"""Slugs of lists whose items are lists that may be in any order, too."""

_ONLY_INSIDE = (
    "find-critical-and-pseudo-critical-edges-in-minimum-spanning-tree",
    "find-the-difference-of-two-arrays",
)
"""Slugs of lists of which only the inner lists may be in any order."""

_WITHIN_1E_5 = (
    "average-of-levels-in-binary-tree",
    "average-salary-excluding-the-minimum-and-maximum-salary",
    "average-waiting-time",
    "calculate-amount-paid-in-taxes",
    "car-fleet-ii",
    "convert-the-temperature",
    "frog-position-after-t-seconds",
    "largest-triangle-area",
    "maximum-average-subarray-i",
    "maximum-price-to-fill-a-bag",
    "mean-of-array-after-removing-some-elements",
    "separate-squares-i",
    "separate-squares-ii",
    "sliding-window-median",
    "toss-strange-coins",
)
"""Slugs of numbers that may be wrong by 10^-5."""

_CHOICES = {
    "beautiful-arrangement-ii": "distinct_differences",
    "construct-2d-grid-matching-graph-layout": "grid_of_graph",
    "convert-integer-to-the-sum-of-two-no-zero-integers": "two_without_zeros",
    "di-string-match": "rises_and_falls",
    "divide-array-into-arrays-with-max-difference": "close_triples",
    "fair-candy-swap": "fair_swap",
    "find-indices-with-index-and-value-difference-i": "two_far_indices",
    "find-indices-with-index-and-value-difference-ii": "two_far_indices",
    "find-the-shortest-superstring": "common_superstring",
    "flower-planting-with-no-adjacent": "flowers",
    "gray-code": "gray_code",
    "longest-unequal-adjacent-groups-subsequence-i": "alternating_words",
    "maximum-points-in-an-archery-competition": "arrows",
    "minimum-remove-to-make-valid-parentheses": "fewest_removed",
    "reorganize-string": "no_equal_neighbours",
    "replace-all-s-to-avoid-consecutive-repeating-characters": "question_marks",
    "restore-the-array-from-adjacent-pairs": "chain_of_pairs",
    "shortest-common-supersequence": "common_supersequence",
    "sort-array-by-parity-ii": "alternating_parity",
}
"""Function of `choices` by slug, for problems with several answers."""

_OTHERS = {
    "alien-dictionary": ("sequences", "order_of_letters"),
    "avoid-flood-in-the-city": ("sequences", "dried_lakes"),
    "balance-a-binary-search-tree": ("binary_trees", "balanced"),
    "build-an-array-with-stack-operations": ("sequences", "stack_operations"),
    "construct-binary-tree-from-preorder-and-postorder-traversal": (
        "binary_trees",
        "with_both_orders",
    ),
    "encode-string-with-shortest-length": ("sequences", "short_encoding"),
    "find-a-good-subset-of-the-matrix": ("grids", "good_subset"),
    "insert-into-a-binary-search-tree": ("binary_trees", "with_one_more"),
    "map-of-highest-peak": ("grids", "highest_peaks"),
    "minimize-maximum-value-in-a-grid": ("grids", "same_order_in_lines"),
    "recover-the-original-array": ("sequences", "lower_and_higher"),
    "remove-zero-sum-consecutive-nodes-from-linked-list": ("sequences", "without_zero_sums"),
}
"""Module and function by slug, for further problems with several answers."""

_LEETCODE = {
    **dict.fromkeys(_ANY_ORDER, ("functions", "unordered(0)")),
    **dict.fromkeys(_ANY_ORDER_INSIDE, ("functions", "unordered(0, 1)")),
    **dict.fromkeys(_ONLY_INSIDE, ("functions", "unordered(1)")),
    **dict.fromkeys(_WITHIN_1E_5, ("tolerances", "returned_within(1e-5)")),
    **{slug: ("choices", function) for slug, function in _CHOICES.items()},
    **_OTHERS,
}
"""Module and expression by slug, for LeetCode's problems."""

_TABLES: Mapping[str, tuple[str, str]] = {**_LIVECODEBENCH, **_LEETCODE}


def checker_of(*names: str) -> Checker | None:
    """Return the checker of a problem with any of these ids or slugs, or None."""
    known = next((_TABLES[name] for name in names if name in _TABLES), None)
    return _checker(*known) if known else None


def checked_names() -> frozenset[str]:
    """Return the ids and slugs of all problems that have a checker."""
    return frozenset(_TABLES)


@cache
def _checker(module: str, expression: str) -> Checker:
    code = f"{_source(module)}\n\ncheck = {expression}\n"
    return Checker(kind="check", code=code, beside_rule=True)


def _source(module: str) -> str:
    """Return a module's text, with each import of a module here replaced by its text."""
    text = (resources.files(__name__) / f"{module}.py").read_text("utf-8")
    lines = text.splitlines()
    for node in reversed(ast.parse(text).body):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{__name__}."):
            imported = (node.module or "").removeprefix(f"{__name__}.")
            lines[node.lineno - 1 : node.end_lineno] = [_source(imported)]
    return "\n".join(lines)
