"""skyrl-gym 0.4: `HarnessEnv` by the package's own registry, stepped by scripted policies."""

import json

import skyrl_gym
from skyrl_gym.envs.base_text_env import BaseTextEnv

from harness import Episode, Episodes, load_problems

SETTINGS = {"benchmark": "fixture", "reward": "shaped", "max_turns": 4, "workers": 1}


def block(name: str, **arguments: str) -> str:
    return f"```json\n{json.dumps({'name': name, 'arguments': arguments})}\n```"


def main() -> None:
    skyrl_gym.register(id="harness", entry_point="harness.features.training.skyrl:HarnessEnv")
    problem = load_problems("fixture")[0]
    right = problem.load_references()[0].code
    policies = {
        "right": [block("read_problem"), block("write_solution", code=right), block("run_tests")],
        "wrong": [block("write_solution", code="print(1)"), block("run_tests"), "I", "give up"],
        "silent": ["Hello.", "Hello?", "Hello!"],
    }
    wanted = {"right": 1.0, "wrong": 0.0, "silent": 0.0}
    metrics = []
    for name, answers in policies.items():
        env = skyrl_gym.make("harness", env_config=SETTINGS, extras={"problem_id": problem.id})
        assert isinstance(env, BaseTextEnv)
        conversation, info = env.init([])
        assert info == {"problem_id": problem.id}
        rewards = []
        for answer in answers:
            out = env.step(answer)
            conversation = [
                *conversation,
                {"role": "assistant", "content": answer},
                *out["observations"],
            ]
            rewards.append(out["reward"])
            if out["done"]:
                break
        assert out["done"], (name, out)
        assert rewards[-1] == wanted[name], (name, out)
        assert not any(rewards[:-1])
        metrics.append(env.get_metrics())
        env.close()
        print(name, rewards, out["metadata"])
        if name == "right":
            with Episodes("fixture", max_turns=4, workers=1, tool_protocol="text") as episodes:
                episode = Episode(episodes)
                sent = episode.reset(problem)
                for answer in answers[:2]:
                    step = episode.step(answer)
                    sent = [*sent, {"role": "assistant", "content": answer}, *step.messages]
                assert sent == conversation[: len(sent)]
    print(BaseTextEnv.aggregate_metrics(metrics))
    print("skyrl-gym: all holds")


if __name__ == "__main__":
    main()
