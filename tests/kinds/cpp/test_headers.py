"""The precompiled standard header: the same programs and messages, in less time."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each

from harness.kinds.cpp import builder
from harness.kinds.cpp.binaries import Binaries
from harness.kinds.cpp.builder import Builder
from harness.kinds.cpp.headers import HEADER, Headers, begins_with_header
from harness.kinds.cpp.language import compiler
from harness.languages.language import MissingCompilerError
from harness.sandbox import strongest
from harness.sandbox.execution import Execution
from harness.sandbox.program import Program

try:
    is_gcc = "clang" not in Path(compiler().path).name
except MissingCompilerError:
    is_gcc = False
needs_gcc = pytest.mark.skipif(not is_gcc, reason="GCC precompiles headers")

INCLUDE = "#include <bits/stdc++.h>\n"
MAIN = 'int main() { map<string, int> m; m["a"] = 1; cout << m.size() << "\\n"; }\n'
USING = "using namespace std;\n"
LIMITS = builder.COMPILER_LIMITS
Build = Callable[[Headers, str], bytes | Execution]


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Build]:
    """Compiles a source that no cache has."""
    builders: list[Builder] = []

    def compiled(headers: Headers, code: str) -> bytes | Execution:
        kept = Binaries(tmp_path / f"binaries{len(builders)}")
        isolation = strongest.choose().findings.isolation
        builders.append(Builder(isolation, kept, headers))
        file = builders[-1].build(Program(code, language="cpp"), lambda: False)
        return file if isinstance(file, Execution) else os.pread(file, 1 << 26, 0)

    yield compiled
    for each in builders:
        each.close()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "headers"


@pytest.fixture(scope="module")
def precompiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the header, which takes longer than what is compiled with it."""
    folder = tmp_path_factory.mktemp("precompiled") / "headers"
    isolation = strongest.choose().findings.isolation
    binaries = Binaries(folder.with_name("binaries"))
    with closing(Builder(isolation, binaries, Headers(folder, worth_it=1))) as first:
        first.build(Program(INCLUDE + USING + MAIN, language="cpp"), lambda: False)
    return folder


def never(folder: Path) -> Headers:
    return Headers(folder, worth_it=0)


@for_each(
    ("code", "begins"),
    [
        (INCLUDE, True),
        ("// a solution\n\n/* of\nmine */ # include<bits/stdc++.h>\n", True),
        ("#if __has_include(<bits/stdc++.h>)\n" + INCLUDE + "#endif\n", True),
        ("#include <iostream>\n" + INCLUDE, False),
        ('#pragma GCC target("avx2")\n' + INCLUDE, False),
        ("#define int long long\n" + INCLUDE, False),
        ("", False),
    ],
)
def test_only_a_source_that_begins_with_the_header_has_use_of_it(code: str, begins: bool) -> None:
    assert begins_with_header(code) is begins


@for_each("code", ["/**/" * 100_000, "/*" * 200_000, "//\n" * 100_000, " \n" * 200_000])
def test_a_hostile_source_is_searched_in_no_time(code: str) -> None:
    began = time.process_time()
    assert begins_with_header(code) is False
    assert time.process_time() - began < 1.0


@pytest.mark.thorough
@needs_gcc
@pytest.mark.parametrize(
    "code",
    [
        INCLUDE + USING + MAIN,
        pytest.param(
            INCLUDE + '#pragma GCC optimize("O3")\n#pragma GCC target("avx2")\n' + USING + MAIN,
            marks=pytest.mark.thorough,
        ),
        pytest.param(
            INCLUDE
            + USING
            + "#define int long long\n#define double long double\nsigned "
            + MAIN.removeprefix("int"),
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_the_header_is_precompiled_once_and_the_program_is_the_same_to_the_bit(
    build: Build, place: Path, precompiled: Path, code: str
) -> None:
    (kept,) = precompiled.iterdir()
    file = (kept / f"{HEADER}.gch").stat().st_ino
    plain = build(never(place), code)
    assert isinstance(plain, bytes)
    assert not any(place.iterdir())
    assert build(Headers(precompiled, worth_it=1), code) == plain
    assert build(Headers(precompiled), code) == plain
    assert list(precompiled.iterdir()) == [kept]
    assert (kept / f"{HEADER}.gch").stat().st_ino == file


@pytest.mark.thorough
@needs_gcc
def test_it_is_read_in_place_of_the_header(
    build: Build, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builder, "SOURCE", "#define MARK 0\n")
    code = INCLUDE + "int main() { return MARK; }\n"
    assert isinstance(build(never(place), code), Execution)
    assert isinstance(build(Headers(place, worth_it=1), code), bytes)


@pytest.mark.thorough
@needs_gcc
def test_it_is_precompiled_for_a_source_with_others_beside_it(tmp_path: Path, place: Path) -> None:
    isolation = strongest.choose().findings.isolation
    code = f"{INCLUDE}int other();\nint main() {{ return other(); }}\n"
    program = Program(code, language="cpp", files=(("a.cpp", "int other() { return 0; }"),))
    with closing(Builder(isolation, Binaries(tmp_path / "b"), Headers(place, worth_it=1))) as made:
        assert isinstance(made.build(program, lambda: False), int)
    assert list(place.rglob("*.gch"))


@pytest.mark.thorough
@needs_gcc
def test_two_that_are_at_it_do_not_both_precompile(build: Build, place: Path) -> None:
    with Headers(place).alone() as alone:
        assert alone
        assert isinstance(build(Headers(place, worth_it=1), INCLUDE + USING + MAIN), bytes)
        assert not any(place.iterdir())
    with Headers(place).alone() as alone:
        assert alone
    place.rmdir()
    place.touch()
    with Headers(place).alone() as alone:
        assert not alone


@pytest.mark.thorough
@needs_gcc
def test_other_sources_do_not_pay_for_it(build: Build, place: Path) -> None:
    headers = Headers(place, worth_it=1)
    build(headers, "#include <iostream>\nint main() {}\n")
    assert not any(place.iterdir())


@needs_gcc
@pytest.mark.thorough
def test_a_compile_error_is_in_the_words_of_the_usual_header(
    build: Build, place: Path, precompiled: Path
) -> None:
    code = INCLUDE + USING + "int main() { vector<int> v; v.push_back(string()); }\n"
    plain = build(never(place), code)
    quick = build(Headers(precompiled), code)
    assert isinstance(plain, Execution)
    assert isinstance(quick, Execution)
    assert quick.error == plain.error
    assert str(precompiled) not in quick.error


@pytest.mark.thorough
@needs_gcc
def test_a_source_that_takes_too_long_is_not_compiled_a_second_time(
    build: Build, precompiled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fibonacci = "constexpr int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\n"
    code = INCLUDE + fibonacci + "static_assert(f(60) > 0);\nint main() {}\n"
    commands: list[list[str]] = []
    compiled = Builder._compile

    def counted(self: Builder, *arguments: Any) -> Execution:
        commands.append(arguments[3])
        return compiled(self, *arguments)

    monkeypatch.setattr(Builder, "_compile", counted)
    monkeypatch.setattr(builder, "COMPILER_LIMITS", replace(LIMITS, cpu_s=0.4))
    refused = build(Headers(precompiled), code)
    assert isinstance(refused, Execution)
    assert "needs more than 0.4 s" in refused.error
    assert ["-I" in command for command in commands] == [True]


class TestTrust:
    """A header that others could have written is not read."""

    KEY = "key"

    @pytest.fixture
    def headers(self, place: Path) -> Headers:
        headers = Headers(place)
        headers.keep(self.KEY, b"precompiled")
        assert headers.find(self.KEY) is not None
        return headers

    @pytest.mark.parametrize("part", ["", "*", "*/bits", f"*/{HEADER}.gch"])
    def test_nobody_else_may_write_to_it(self, headers: Headers, place: Path, part: str) -> None:
        (path,) = place.glob(part) if part else [place]
        path.chmod(path.stat().st_mode | 0o020)
        assert Headers(place).find(self.KEY) is None
        if part:
            assert headers.find(self.KEY) is None

    def test_its_content_is_what_was_kept(self, headers: Headers, place: Path) -> None:
        (path,) = place.glob(f"*/{HEADER}.gch")
        path.write_bytes(b"precompileD")
        assert Headers(place).find(self.KEY) is None
        del headers

    def test_a_link_is_not_followed(self, headers: Headers, place: Path) -> None:
        (path,) = place.glob("*")
        path.rename(place.with_name("elsewhere"))
        path.symlink_to(place.with_name("elsewhere"))
        assert headers.find(self.KEY) is None

    def test_the_newest_few_are_kept(self, headers: Headers, place: Path) -> None:
        for number in range(4):
            headers.keep(f"other{number}", b"more")
        unfinished = place / ".unfinished"
        unfinished.mkdir()
        os.utime(unfinished, (1, 1))
        headers.keep("other4", b"more")
        assert len(list(place.iterdir())) == 3
        assert not unfinished.exists()
        assert headers.find("other4") is not None
