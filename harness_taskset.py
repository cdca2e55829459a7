"""The taskset `harness_taskset` of verifiers, which finds tasksets by a module's name."""

from harness.features.training.verifiers import HarnessTaskset

__all__ = ["HarnessTaskset"]
