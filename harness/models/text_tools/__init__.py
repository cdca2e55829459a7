"""Tools for models without tool calls: described in the prompt, called in the text.

- `instructions`: wraps a model, so that its tools are told and called in text.
- `wording`: what the model is told: the manual, reminders, calls written right.
- `reader`: reads the calls in a text; `formats` is the table of their formats.
- `fences`, `tags`, `tokens`, `python_calls`: a family of formats each.
- `source`: bodies of calls, and where they end.
- `calls`: what a call is; `arguments`: its arguments, as text of any kind.
- `repair`: JSON as models write it; `quoted`: a text between quotes, where no JSON can be repaired.
- `thoughts`: calls that a server left at the end of the thoughts.
- `salvage`: the text in a call that failed; `end_of_code`: tools called in the last lines of code.
"""
