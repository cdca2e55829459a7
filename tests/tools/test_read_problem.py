"""What `read_problem` tells of a problem."""

from for_each import for_each

from harness.agent.templates.prompt_set import load_prompt
from harness.grading.verdict import Grade, Verdict
from harness.problem import Codec, ProblemView, Signature, TestCase
from harness.tools.read_problem import ReadProblem
from harness.tools.toolbox import NoArguments
from harness.tools.workspace import Workspace

LONGEST_TEST = 2_000
STARTER = "class Solution:\n    def add(self, a, b):\n        "


def view(**changes: object) -> ProblemView:
    plain = ProblemView(
        id="made/sum",
        source="made",
        title="Sum of Two",
        statement="\nRead two integers and print their sum.\n",
        platform="made",
        difficulty=None,
        tags=("arithmetic-tag",),
        release_date=None,
        starter_code="",
        entry_point=None,
        signature=Signature(),
        preamble="PREAMBLE = 1",
        public_tests=(
            TestCase(input="1 2\n", output="3\n", public=True),
            TestCase(input="4 5\n", output="9\n", public=True),
        ),
    )
    return plain.model_copy(update=changes)


async def text_of(problem: ProblemView, cpu_limit_s: float = 2.5, language: str = "python") -> str:
    async def run_public_tests(_code: str) -> Grade:
        return Grade(verdict=Verdict.UNGRADED)

    texts = load_prompt("default", "agentic", language=language)
    workspace = Workspace(
        problem, texts, run_public_tests, cpu_limit_s, 512 << 20, language=language
    )
    return await ReadProblem().call(workspace, NoArguments())


async def test_a_program_is_told_of_stdin_and_every_public_test() -> None:
    text = await text_of(view())
    assert text.startswith("# Sum of Two\n\nRead two integers and print their sum.\n\n")
    assert "reads stdin and writes stdout" in text
    assert "2.5 seconds of CPU time and 512 MiB of memory" in text
    assert "## Public test 1\n\nInput:\n```\n1 2\n```\nExpected output:\n```\n3\n```" in text
    assert "## Public test 2\n\nInput:\n```\n4 5\n```\nExpected output:\n```\n9\n```" in text
    assert "Starter" not in text


async def test_a_dialogue_is_told_of_the_judge_and_what_the_judge_is_given() -> None:
    text = await text_of(view(judge="dialogue"))
    assert "It talks with the judge" in text
    told = "The judge is given this, and your program is not:"
    assert f"## Public test 1\n\n{told}\n```\n1 2\n```\n\n## Public test 2" in text
    assert "Input:" not in text
    assert "Expected output:" not in text
    assert "talks with the judge" not in await text_of(view(judge="checker"))


async def test_an_empty_expected_output_is_shown_only_where_it_is_compared() -> None:
    tests = (TestCase(input="1 2\n", output="\n", public=True),)
    assert "Expected output:" not in await text_of(view(judge="checker", public_tests=tests))
    assert "Expected output:" in await text_of(view(judge="rule", public_tests=tests))
    assert "Expected output:" in await text_of(view(judge="checker"))


async def test_a_function_is_told_its_name_and_start() -> None:
    text = await text_of(view(entry_point="add", starter_code=STARTER))
    assert "`add` is called; it must return its result" in text
    assert f"```python\n{STARTER.rstrip()}\n```" in text
    assert "stdin" not in text


async def test_a_function_that_works_in_place_is_told_so() -> None:
    in_place = Signature(arguments=(Codec.JSON,), result=Codec.FIRST_ARGUMENT)
    text = await text_of(view(entry_point="rotate", signature=in_place))
    assert "`rotate` is called; it must change its first argument in place" in text
    assert "return its result" not in text


async def test_one_file_of_several_is_asked_for_where_the_others_are_there() -> None:
    text = await text_of(view(included=(("grader.cpp", "int main() {}"),)), language="cpp")
    assert "The one C++ file that is asked for" in text
    assert "A complete C++ program" not in text


async def test_starter_code_of_blanks_is_none() -> None:
    assert "Starter" not in await text_of(view(entry_point="add", starter_code="\n  "))


async def test_a_problem_without_public_tests_shows_none() -> None:
    assert "Public test" not in await text_of(view(public_tests=()))


@for_each("length", [LONGEST_TEST, 5_000_000])
async def test_long_tests_are_cut_in_the_middle(length: int) -> None:
    test = TestCase(input="HEAD" + "1" * length + "TAIL", output="2" * length, public=True)
    text = await text_of(view(public_tests=(test,)))
    assert len(text) < 2 * LONGEST_TEST + 1_000
    assert "HEAD1" in text
    assert "1TAIL" in text
    assert text.count("characters left out") == 1 + (length > LONGEST_TEST)


SHOWN = """Print the sum.

Sample Input 1

1 2

Sample Output 1

3

Because 1 + 2 is 3.

### Sample 2

```
4 5
```

```
9
```
"""


async def test_a_test_that_the_statement_has_is_not_shown_again() -> None:
    text = await text_of(view(statement=SHOWN))
    assert "Public tests 1, 2 are the examples above." in text
    assert "## Public test" not in text


async def test_the_other_tests_keep_their_numbers() -> None:
    text = await text_of(view(statement=SHOWN.partition("###")[0]))
    assert "Public test 1 is the example above." in text
    assert "## Public test 2\n\nInput:\n```\n4 5\n```" in text
    assert "## Public test 1" not in text


@for_each(
    "statement",
    [
        "Sample Input 1\n\n1 2\n\nSample Output 1\n\n3 4\n",
        "Sample Input 1\n\n1 2\n\nSample Output 1\n\n3\n4\n",
        "Sample Input 1\n\n1  2\n\nSample Output 1\n\n3\n",
        "Sample Input 1\n\n0\n1 2\n\nSample Output 1\n\n3\n",
        "The pair\n\n1 2\n\nhas the sum\n\n3\n",
        "Input: a = 1, b = 2\nOutput: 3\n",
        "Sample Input 1\n\n1 2\n\nSample Output 1\n",
    ],
)
async def test_what_is_not_word_for_word_the_test_does_not_count(statement: str) -> None:
    assert "## Public test 1" in await text_of(view(statement=statement))


async def test_an_empty_output_is_always_shown() -> None:
    test = TestCase(input="1 2\n", output="\n", public=True)
    text = await text_of(view(statement=SHOWN, public_tests=(test,)))
    assert "## Public test 1" in text


async def test_a_statement_of_any_size_is_searched_in_time() -> None:
    test = TestCase(input="1\n" * 900 + "2\n", output="1\n", public=True)
    text = await text_of(view(statement="1\n" * 24_000, public_tests=(test,) * 3))
    assert "## Public test 3" in text
