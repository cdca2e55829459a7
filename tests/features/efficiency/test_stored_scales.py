"""Stored scales of another protocol are measured again, not misread."""

from pathlib import Path

from for_each import for_each

from harness.features.efficiency.measurement import Scales, references_of
from harness.features.efficiency.scale import PROTOCOL, Scale
from harness.grading.jobs import Options
from harness.sources.benchmarks import load


@for_each("protocol", [PROTOCOL, PROTOCOL - 1])
def test_a_scale_of_another_protocol_is_not_read(tmp_path: Path, protocol: int) -> None:
    problem = load("fixture").problems[0]
    scales = Scales(Options(), "paired", tmp_path)
    path = scales.path(problem, references_of(problem))
    path.parent.mkdir(parents=True)
    scale = Scale(protocol=protocol, unit_s=1.0, references=())
    path.write_text(scale.model_dump_json())
    assert scales.known(problem) == (scale if protocol == PROTOCOL else None)
