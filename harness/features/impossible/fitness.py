"""Why a problem cannot have an impossible test, and the proof that a changed one is impossible.

A change is proven by the problem's comparison rule, so there must be one that accepts a single
answer, and the problem must have a single answer.
"""

import asyncio
import re
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from harness.features.impossible.changed_tests import TestChange
from harness.grading.jobs import Judgement, Options
from harness.grading.rules import find_rule
from harness.grading.stop import Stop
from harness.grading.verdict import Grade, Verdict
from harness.languages import PYTHON
from harness.problem import Codec, Kind, Problem, Reference, TestCase, TestSuite
from harness.sandbox.executor import Executor, Shared

EXACT_RULES = frozenset({"lcb", "equality", "tokens"})
"""Rules that accept one answer, apart from white space and the notation of numbers."""
VALUES = frozenset({Codec.JSON, Codec.LINKED_LIST, Codec.TREE, Codec.FIRST_ARGUMENT})
"""Results whose expected output is a JSON value."""

LONGEST_STATEMENT = 50_000
_THINGS = r"(?:answer|solution|output|result|way|order|permutation|arrangement|path|construction)s?"
_OBJECT = (
    r"(?:permutation|arrangement|colou?ring|assignment|path|tour|route|cycle|circuit|tree|forest"
    r"|graph|subset|subsequence|partition|matching|schedule|ordering|construction|configuration"
    r"|placement|decomposition|labell?ing|plan|strategy|walk|tiling|cover(?:ing)?|instance|example"
    r"|grouping|distribution|triple|pair|witness|certificate|proof|counterexample|set of"
    r"|sequence of (?:move|operation|step|swap|action|instruction|turn)s?)s?"
)
_GIVE = (
    r"(?:print|output|return|write|report|give|produce|provide|construct|build|exhibit|show|display"
    r"|present|determine|design|create|generate|name|list)"
)
_FREE = (
    r"(?:irrelevant|unimportant|insignificant|immaterial|arbitrary|free|of no importance|up to you)"
)
_SEVERAL = re.compile(
    rf"\bin any\b|\bany (?:\w+ )?{_THINGS}\b|\bany (?:one )?(?:of|such|valid|correct|possible)\b"
    r"|\barbitrar(?:y|ily)\b|\b(?:print|output|return|find|choose|report|give) any\b"
    rf"|\b(?:multiple|several|many|different|more than one|other) (?:\w+ )?{_THINGS}\b"
    r"|\bif there (?:are|is) (?:several|multiple|many|more than one)\b|\bnot (?:\w+ )?unique\b"
    r"|\baccept(?:s|ed)? any\b|\b(?:will|would|also) (?:also )?be accepted\b"
    r"|\b(?:does|do)(?: not|n't|n\u2019t) matter\b|\brandom(?:ly)?\b"
    r"|\bno matter (?:in )?(?:which|what)"
    r"(?: (?:order|way|one|sequence|answer|of)\b|[.,;])"
    r"|\bwhich(?:so)?ever\b(?! (?:is|are|comes|has|happens) (?:more|less|smaller|larger|greater"
    r"|lower"
    r"|higher|bigger|later|earlier|shorter|longer|cheaper|first|the))|\bwhatever (?:order|way"
    r"|answer|solution|sequence)\b|\bhowever you\b"
    r"|\bany (?:one )?of (?:them|these|those)\b"
    r"|\b(?:any|either) (?:one )?(?:will do|is (?:fine|accepted|correct|right))\b"
    r"|\breturn either\b"
    r"|\b(?:in )?no (?:particular|specific|fixed|special|prescribed|required|set"
    r"|certain) (?:order|sequence)\b"
    rf"|\b(?:order|sequence|orientation|direction|choice)(?: \w+){{0,6}} (?:is"
    rf"|are) (?:\w+ )?{_FREE}\b"
    r"|\b(?:regardless|irrespective) of (?:the|their|its) order\b(?! (?:in which|of))"
    r"|\b(?:of|at) your (?:own )?(?:choice|choosing|liking|discretion|will|option)\b|\bat will\b"
    r"|\b(?:way|order|one|sequence) you (?:like|want|wish|please|prefer|choose|see fit)\b"
    r"|(?<!times )(?<!many )(?<!much )(?<!often )\bas you (?:like|wish|please|prefer|see fit)\b"
    r"|\bfree to (?:choose|pick|select|decide)\b|\byou (?:may|can) decide\b"
    r"|\bties? (?:may|can|are|is|should be|will be)?\s?(?:be )?(?:broken|resolved|settled)"
    r" (?:either|any|arbitr|at|as|how|in any)|\bbreak ties (?:either|any|arbitr|at|as|how|in any)"
    rf"|\b{_GIVE} (?:just |only |exactly )?(?:one of|one (?:such|possible|valid|suitable"
    rf"|feasible|correct)"
    r"|some (?:such|valid|possible|suitable)|some one|either)\b"
    rf"|(?<!to )\b(?:{_GIVE}|find) an? (?:\w+ )?(?:valid|possible|feasible|suitable|admissible"
    rf"|legal|proper"
    r"|such|example|instance|sample|correct|optimal|acceptable)\b"
    rf"|(?<!to )\b{_GIVE} (?:an?|one|some) (?:\w+ ){{0,2}}{_OBJECT}\b"
    rf"|\bfind (?:an?|one|some) (?:\w+ ){{0,2}}{_OBJECT}\b[^.;]{{0,120}}\b{_GIVE} (?:it|them|one)\b"
    rf"|\b{_GIVE} (?:integers |numbers |values )?[a-z](?:,? (?:and )?[a-z])* (?:such that|with"
    rf"|satisfying|so that)\b"
    r"|\b(?:order|which)\b[^.;]{0,40}\bnot important\b|\bnot important\b[^.;]{0,20}\b(?:order"
    r"|which)\b"
    r"|\bnot necessarily (?:just |only )?(?:one|a single)\b|\bas they come\b"
    r"|\b(?:is|are) yours\b|\byour (?:choice|decision)\b|\b(?:up|left) to you\b"
    r"|\b(?:judged|checked|verified|validated) by an? (?:\w+ )?(?:checker|program|validator"
    r"|script)\b"
    r"|\b(?:both|all|several|two) (?:answers|solutions|outputs|of them) (?:are"
    r"|would be) (?:right|correct"
    r"|valid|fine|allowed)\b"
    r"|\b(?:checker|grader|judge|validator)s? (?:will |would )?(?:accepts?|allows?|takes?)"
    r" (?:all|any|each|every|both|either)\b|\b(?:special|custom) (?:judge|checker|grader)\b"
    r"|\b(?:all|both|every(?: one)?|each|either)(?: \w+){0,4} (?:is|are|will be|would be"
    r"|counts? as)"
    r" (?:\w+ )?(?:accepted|acceptable|considered correct|equally (?:good|valid|right|correct))\b"
    r"|\b(?:equally (?:good|valid|acceptable)|(?:need|has|have|is|are)(?: not|n't"
    r"| to not)? (?:to )?be"
    r" unique|non-unique|alternative (?:answers?|solutions?|outputs?))\b"
    r"|\bexist(?:s)? (?:several|multiple|many|more than one)\b|\bone of (?:several|many"
    r"|multiple)\b",
    re.IGNORECASE,
)
MOST_REFERENCES = 100
"""References of a problem that are run; data sets have up to thousands."""


def unfit(problem: Problem, options: Options) -> str | None:
    """Return why a problem cannot have an impossible test; None if it can.

    Args:
        problem: the problem.
        options: how its solutions are judged.

    Raises:
        DataError: its hidden tests cannot be decoded.
    """
    reasons = (
        ("asks for no program", problem.kind is not Kind.CODE_GENERATION),
        ("its own checker", problem.checker is not None),
        ("rule accepts several answers", options.rule_of(problem) not in EXACT_RULES),
        ("result is not a value", problem.signature.result not in VALUES),
        ("known issues", bool(problem.known_issues)),
        ("several right answers", says_several(problem.statement)),
        ("no public test", not problem.tests.public),
    )
    unfit = next((reason for reason, holds in reasons if holds), None)
    if unfit is None and not problem.tests.load_hidden():
        return "no hidden test"
    return unfit


def says_several(statement: str) -> bool:
    """Whether a statement may allow several answers; an empty or very long one may."""
    if not statement.strip() or len(statement) > LONGEST_STATEMENT:
        return True
    return _SEVERAL.search(" ".join(statement.split())) is not None


def only_tests(tests: tuple[TestCase, ...]) -> list[int]:
    """Return the indexes of the tests whose input no other test has."""
    inputs = [test.input.strip() for test in tests]
    return [place for place, given in enumerate(inputs) if inputs.count(given) == 1]


class Proof(StrEnum):
    """What the references say about a changed test.

    `holds`: every reference that passes the test before fails it now, or there is none.
    `passed`: a reference passes the changed test.
    `doubtful`: a reference fails the test before by a wrong answer, or none passes it.
    """

    HOLDS = "holds"
    PASSED = "passed"
    DOUBTFUL = "doubtful"


def rule_refuses(problem: Problem, options: Options, before: str, after: str) -> bool:
    """Whether the problem's rule judges neither output as right where the other is expected."""
    rule = find_rule(options.rule_of(problem))
    compare = rule.output if problem.entry_point is None else rule.value
    crossed = (compare(before, after), compare(after, before))
    return compare(before, before) is None and None not in crossed


class ReferenceRuns(NamedTuple):
    """Runs the references of problems in the sandbox."""

    pool: Executor
    options: Options

    async def proof(self, problem: Problem, change: TestChange) -> Proof:
        """Return what a problem's references say about a change of its tests.

        Raises:
            DataError: the references cannot be decoded.
            SandboxError: they could not be run.
        """
        languages = {PYTHON, self.options.language}
        known = await asyncio.to_thread(problem.load_references)
        programs = [each for each in known if each.language in languages][:MOST_REFERENCES]
        if not programs:
            return Proof.HOLDS
        place = change.test - (change.kind == "conflicting")
        tests = both_tests(problem.tests.public[place], change)
        grades = await asyncio.gather(*(self._judged(problem, each, tests) for each in programs))
        return judged_proof(grades)

    async def _judged(
        self, problem: Problem, reference: Reference, tests: Sequence[TestCase]
    ) -> Grade:
        task = self.options.task(problem, reference.code, (), reference.language)
        task = task._replace(stop=Stop.NEVER)
        return await self.pool.call(Judgement(task, Shared(TestSuite(tuple(tests)))))


def both_tests(test: TestCase, change: TestChange) -> tuple[TestCase, TestCase]:
    """Return a test as it was and as it is now."""
    return test, test.model_copy(update={"output": change.after})


def judged_proof(grades: Sequence[Grade]) -> Proof:
    """Return what the grades of references on `both_tests` say."""
    pairs = [[test.verdict for test in grade.tests] for grade in grades]
    if any(len(pair) > 1 and pair[1] is Verdict.ACCEPTED for pair in pairs):
        return Proof.PASSED
    wrong = any(pair[:1] == [Verdict.WRONG_ANSWER] for pair in pairs)
    right = any(pair == [Verdict.ACCEPTED, Verdict.WRONG_ANSWER] for pair in pairs)
    return Proof.HOLDS if right and not wrong else Proof.DOUBTFUL
