from for_each import for_each

from harness.models.history_refusals import refuses_history

REFUSED = [
    "messages.3.content.0: Invalid `signature` in `thinking` block. The block is bound to a "
    "different conversation.",
    "messages.5.content.1: `thinking` or `redacted_thinking` blocks in the latest assistant "
    "message cannot be modified. They must stay as they were.",
    "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`.",
    "messages.1.content.0: Invalid `data` in `redacted_thinking` block",
    "messages.1.content.0.thinking.signature: Field required",
    "Provider returned error: messages.3.content.0: Invalid signature in thinking block",
    "Item with id 'rs_0' not found. Items are not persisted when `store` is set to false.",
    "Item with id 'msg_0a1b' not found.",
    "Item 'rs_0' of type 'reasoning' was provided without its required following item.",
    "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: "
    "'rs_1'.",
    "Duplicate item found with id rs_0. Remove duplicate items from your input and try again.",
    "The encrypted content gAAA...Q== could not be verified.",
    "Could not decrypt the provided encrypted_content: it may have been altered",
    "Function call is missing a thought_signature in functionCall parts.",
    "Unable to submit request because Thought signature is not valid.",
    "Corrupted thoughtSignature.",
    "The `reasoning_content` in the thinking mode must be passed back to the API.",
    "thinking is enabled but reasoning_content is missing in assistant tool call message at index "
    "2",
    "Missing `reasoning_content` field in the assistant message at message index 2.",
    "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: t1.",
    "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: t1.",
    "An assistant message with 'tool_calls' must be followed by tool messages.",
    "No tool call found for function call output with call_id call_1.",
    "Invalid request: tool_call_id call_1 is not found",
]
OTHER = [
    "Encrypted content is not supported with this model.",
    "property 'reasoning_content' is unsupported",
    "messages.2.assistant.reasoning_content: Extra inputs are not permitted",
    "`max_tokens` must be greater than `thinking.budget_tokens`",
    "Unsupported value: 'reasoning.effort' does not support 'minimal' with this model.",
    "Invalid model name",
    "Thinking may not be enabled when tool_choice forces tool use.",
    "messages: text content blocks must contain non-whitespace text",
    "Invalid signature of the request: check your secret key",
    "Item with id 7 could not be added to your cart",
    "prompt is too long: 208310 tokens > 200000 maximum",
]


@for_each("text", REFUSED)
def test_a_refusal_of_a_conversation_for_its_own_answers_is_recognised(text: str) -> None:
    assert refuses_history(text)


@for_each("text", OTHER)
def test_other_refusals_are_not_about_the_history(text: str) -> None:
    assert not refuses_history(text)


def test_the_code_of_an_error_is_enough() -> None:
    assert refuses_history("Please try again.", "invalid_encrypted_content")
    assert not refuses_history("Please try again.", "invalid_request_error")
