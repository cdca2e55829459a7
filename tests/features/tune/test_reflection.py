"""What the reflection model is asked, with which settings, and what is read from its answer."""

from for_each import for_each

from harness.features.tune.reflection import ReflectionModel
from harness.features.tune.reflection_prompt import proposed_template
from harness.run.settings.spec import RunSpec

HERE = "http://127.0.0.1:9/v1"
SPEC = RunSpec(
    model="small",
    base_url=HERE,
    temperature=0.1,
    extra_body={"top_k": 3},
    header=("X-Key: secret",),
    price={"input": 1, "output": 2},
)


def test_the_model_itself_reflects_with_its_own_settings() -> None:
    reflection = ReflectionModel.of(SPEC, None, None, dry_run=True)
    assert reflection.spec == SPEC
    assert reflection.price is not None
    assert reflection.price.output == 2


def test_another_model_gets_none_of_the_settings_but_the_address() -> None:
    reflection = ReflectionModel.of(SPEC, "large", None, dry_run=True)
    assert (reflection.target.name, reflection.spec.base_url) == ("large", HERE)
    assert reflection.spec.header == SPEC.header
    assert (reflection.spec.temperature, reflection.spec.extra_body) == (None, None)
    assert reflection.price is None


@for_each("model", [None, "large"])
def test_another_address_gets_no_header(model: str | None) -> None:
    reflection = ReflectionModel.of(SPEC, model, "http://127.0.0.1:8/v1", dry_run=True)
    assert reflection.spec.base_url == "http://127.0.0.1:8/v1"
    assert reflection.spec.header == ()


def test_a_provider_named_beside_another_gets_no_header() -> None:
    spec = SPEC.model_copy(update={"model": "gpt-5-mini", "base_url": None})
    reflection = ReflectionModel.of(spec, "claude-sonnet-4-5", None, dry_run=True)
    assert reflection.spec.header == ()


@for_each(
    ("answer", "template"),
    [
        ("Why.\n<template>\nSolve {{ x }}.\n</template>\nDone.", "Solve {{ x }}."),
        ("<template>old</template> then <template>new</template>", "new"),
        ("<template>a ```python\n``` b</template>", "a ```python\n``` b"),
        ("no marks", ""),
        ("</template>", ""),
    ],
)
def test_the_last_template_between_the_marks_is_taken(answer: str, template: str) -> None:
    assert proposed_template(answer) == template
