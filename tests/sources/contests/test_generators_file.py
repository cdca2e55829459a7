"""Generators of packages: which tests their file lists, by which names, commands and seeds."""

from hashlib import sha512
from pathlib import Path

import pytest
from contest_packages import Package

from harness.errors import DataError
from harness.sources.contests.generators.generators_file import TestRule, read_generators
from harness.sources.contests.package.package_folder import PackageFolder

LISTED = """
solution: /submissions/accepted/half.py
random_salt: abc
generators:
  tree: [tree.py, lib.py]
data:
  sample:
    data:
      - '': {copy: manual/one}
  secret:
    data:
      - tree: tree --n {seed:2} {name}
      - tree: {generate: 'tree {seed} {count}', count: 2}
      - {b: manual/two.in, a: {in: '7', ans: 3 4}}
      - deep:
          solution:
          data:
            last: {in: '9', ans: '4 5'}
"""


def read(folder: Path) -> tuple[TestRule, ...]:
    return read_generators(PackageFolder(folder), {"most": "99"}).rules


@pytest.fixture
def listed(package: Package) -> dict[str, TestRule]:
    rules = read(package(more={"generators/generators.yaml": LISTED}))
    return {rule.path: rule for rule in rules}


def seed(text: str) -> int:
    return int(sha512(text.encode()).hexdigest(), 16) % 2**31


def test_tests_of_a_list_are_numbered_through_the_whole_file(listed: dict[str, TestRule]) -> None:
    assert list(listed) == [
        *("sample/1", "secret/2-tree", "secret/3-tree-1", "secret/4-tree-2"),
        *("secret/5-a", "secret/6-b", "secret/1-deep/last"),
    ]


def test_seeds_are_those_of_the_format(listed: dict[str, TestRule]) -> None:
    one, second = listed["secret/2-tree"].command, listed["secret/4-tree-2"].command
    assert one is not None
    assert second is not None
    number = seed("abctree --n {seed:2} {name}")
    assert one.arguments_with() == ("--n", str(number), "testcase")
    assert one.arguments_with(1)[1] == str(number + 1)
    assert second.arguments_with() == (str(seed("abc:1tree {seed} 2")), "2")


def test_groups_hand_their_solution_down(listed: dict[str, TestRule]) -> None:
    assert listed["secret/5-a"].solution == "/submissions/accepted/half.py"
    assert listed["secret/1-deep/last"].solution is None


def test_given_texts_end_with_a_line(listed: dict[str, TestRule]) -> None:
    assert (listed["secret/5-a"].input, listed["secret/5-a"].answer) == ("7\n", "3 4\n")


def test_constants_are_replaced_in_commands(package: Package) -> None:
    (rule,) = read(package(more=_secret("a: 'g {{most}}'")))
    assert rule.command is not None
    assert rule.command.arguments == ("99",)


def test_include_repeats_a_group(package: Package) -> None:
    text = """
data:
  secret:
    data:
      one: {data: {a: g 1, b: g 2}}
      two: {data: {c: g 3}, include: [one]}
"""
    paths = [rule.path for rule in read(package(more={"generators/generators.yaml": text}))]
    assert paths[2:] == ["secret/two/c", "secret/two/a", "secret/two/b"]


BOMB = "\n".join(
    ["x0: &a0 [1, 1, 1, 1, 1, 1, 1, 1]"]
    + [f"x{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
)


def _secret(entry: str) -> dict[str, str]:
    return {"generators/generators.yaml": f"data: {{secret: {{data: {{ {entry} }} }} }}"}


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("../x: g 1", "not a name of a test"),
        ("'': g 1", "not a name of a test"),
        ("a: {copy: ../../x}", "leads out of generators/"),
        ("a: {copy: /etc/passwd}", "leads out of generators/"),
        ("a: {in: 3}", "put it in quotes"),
        ("a: {ans: '3'}", "it has no input"),
        ("a: {in: '3', args: x}", "'args' is not known"),
        ("a: {generate: g, count: 100000000}", "from 1 to 1,000"),
        ("a: {generat: g}", "neither a test nor a group"),
        ("a: 'g {seed} {seed:2}'", "more than once"),
        ("a: {include: [b], data: {}}", "not a test or group before it"),
    ],
)
def test_what_cannot_be_is_refused(package: Package, text: str, error: str) -> None:
    with pytest.raises(DataError, match=error):
        read(package(more=_secret(text)))


def test_a_bomb_of_aliases_is_refused(package: Package) -> None:
    with pytest.raises(DataError, match="expand it to more than"):
        read(package(more={"generators/generators.yaml": BOMB}))


def test_too_many_tests_are_refused(package: Package) -> None:
    many = ", ".join(f"a{n}: {{generate: g, count: 1000}}" for n in range(6))
    with pytest.raises(DataError, match="more than 5,000 tests"):
        read(package(more=_secret(many)))
