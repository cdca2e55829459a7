"""Invented timings of solutions, for tests of their display."""

from collections.abc import Sequence

from harness.features.efficiency.scale import Efficiency, ReferenceTime, Scale, Timing

PLAIN = (1.0, 2.0, 3.0, 5.0)


def made_scale(
    times: Sequence[float] = PLAIN,
    *,
    timing: Timing = "paired",
    doubt: float = 0.001,
    branches: bool = True,
    unit_s: float = 1e-6,
) -> Scale:
    """Return a scale of references with these times, fastest first.

    A unit of time counts as ten branches.
    """
    return Scale(
        timing=timing,
        unit_s=unit_s,
        references=tuple(
            ReferenceTime(
                code_hash=str(place),
                time=time,
                doubt=doubt,
                branches=round(10 * time) if branches else None,
            )
            for place, time in enumerate(times)
        ),
    )


def made_efficiency(
    time: float | None,
    scale: Scale | None = None,
    *,
    doubt: float = 0.01,
    remark: str = "",
) -> Efficiency:
    """Return the efficiency of a solution with this time in the scale's unit.

    None stands for a solution that failed.
    """
    scale = made_scale() if scale is None else scale
    if time is None:
        return Efficiency.of_failure(scale, remark)
    return Efficiency.of(
        scale,
        time,
        time * (1 - doubt),
        time * (1 + doubt),
        doubt,
        cpu_s=time * scale.unit_s,
        pairs=16,
        branches=round(10 * time),
        remark=remark,
    )
