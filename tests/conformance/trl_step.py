"""TRL 1.16: its tool discovery, its schemas, and GRPO steps with a random model on the CPU."""

import json
import tempfile

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM
from transformers.utils import get_json_schema
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import qwen3_chat_template

from harness import Episode
from harness.features.training.trl import TrlSpec

WORDS = ["<|im_start|>", "<|im_end|>", "<|endoftext|>", "<tool_call>", "</tool_call>", "<think>"]


def tokenizer(texts: list[str]) -> PreTrainedTokenizerFast:
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    raw.train_from_iterator(
        texts,
        trainers.BpeTrainer(vocab_size=2_000, special_tokens=WORDS[:3], initial_alphabet=alphabet),
    )
    fast_tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, eos_token="<|im_end|>", pad_token="<|endoftext|>"
    )
    fast_tokenizer.chat_template = qwen3_chat_template
    return fast_tokenizer


def called(name: str, **arguments: str) -> str:
    call = json.dumps({"name": name, "arguments": arguments})
    return f"<tool_call>\n{call}\n</tool_call><|im_end|>"


class Scripted(GRPOTrainer):
    """The trainer with answers from a script in place of the model's; the rest is its own."""

    script: list[list[str]]
    turn = 0

    def _generate_single_turn(self, prompt_ids, *_args, **_kwargs):  # noqa: ANN001, ANN002, ANN003, ANN202 - TRL's
        completions = self.script[self.turn]
        self.turn += 1
        texts = [completions[n % len(completions)] for n in range(len(prompt_ids))]
        ids = [self.processing_class.encode(text, add_special_tokens=False) for text in texts]
        return ids, None


def main() -> None:
    with TrlSpec("fixture", reward="shaped", sample_size=2, max_turns=3, workers=1) as spec:
        rows = spec.train_dataset
        factory = spec.environment_factory
        own = {each.name: each for each in spec.episodes.tools}
        environment = factory()
        for name, tool in own.items():
            schema = get_json_schema(getattr(environment, name))["function"]
            wanted = tool.model_dump()
            wanted["parameters"].pop("additionalProperties")
            if not wanted["parameters"]["required"]:
                wanted["parameters"].pop("required")
            schema["parameters"] = {k: schema["parameters"][k] for k in wanted["parameters"]}
            assert schema == wanted, (schema, wanted)
        print("schemas: name, description, parameters equal (TRL leaves out additionalProperties)")
        fresh = Episode(spec.episodes)
        assert rows[0]["prompt"] == fresh.reset(rows[0]["problem_id"])

        tok = tokenizer([each["content"] for row in rows["prompt"] for each in row])
        config = Qwen3Config(
            vocab_size=len(tok),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=2,
            head_dim=16,
            max_position_embeddings=8_192,
        )
        torch.manual_seed(0)
        right = spec.episodes.problems[0].load_references()[0].code
        for kind, trainer_type in (("random", GRPOTrainer), ("scripted", Scripted)):
            torch.manual_seed(0)
            model = Qwen3ForCausalLM(config)
            with tempfile.TemporaryDirectory() as folder:
                arguments = GRPOConfig(
                    output_dir=folder,
                    max_steps=1,
                    per_device_train_batch_size=2,
                    num_generations=2,
                    max_completion_length=24 if kind == "random" else 3_000,
                    max_tool_calling_iterations=spec.max_tool_calling_iterations,
                    use_cpu=True,
                    report_to=[],
                    learning_rate=0.01,
                    logging_steps=1,
                    save_strategy="no",
                    shuffle_dataset=False,
                )
                one = rows.filter(lambda r: r["problem_id"] == spec.episodes.problems[0].id)
                trainer = trainer_type(
                    model=model,
                    args=arguments,
                    train_dataset=one,
                    processing_class=tok,
                    environment_factory=factory,
                    reward_funcs=spec.reward_funcs,
                )
                names = sorted(each.__name__ for each in trainer.tools)
                assert names == ["read_problem", "run_tests", "write_solution"], names
                if trainer_type is Scripted:
                    trainer.script = [
                        [called("read_problem")],
                        [called("write_solution", code=right), called("write_solution", code="x")],
                        [called("run_tests")],
                        ["Done.<|im_end|>"],
                    ]
                before = {n: p.detach().clone() for n, p in model.named_parameters()}
                trainer.train()
                changed = sum(not torch.equal(p, before[n]) for n, p in model.named_parameters())
                last = {**trainer.state.log_history[0]}
            keys = ("reward", "reward_std", "tools/call_frequency", "tools/failure_frequency")
            print(kind, {k: last.get(k) for k in keys}, f"parameters changed: {changed}")
            print({k: v for k, v in last.items() if k in ("solved", "overfit", "format", "loss")})
            if kind == "scripted":
                assert last["reward"] == 0.5, last
                assert changed
                assert last["tools/failure_frequency"] == 0
    print("TRL: all holds")


if __name__ == "__main__":
    main()
