"""Language models behind one protocol: providers, recordings and Python functions.

- `addresses`: base URLs.
- `clients`: clients of providers' APIs.
- `environment`: variables of the environment and `.env`.
- `faults`: failures of providers.
- `function`: a Python function as a model.
- `model_names`: model of a name on the command line.
- `prices`: prices of tokens.
- `protocol`: messages, turns and the `Model` protocol.
- `providers`: known providers.
- `replay`: replay of recorded answers.
- `route`: where and how requests are sent.
- `scripted`: models without a provider.
- `text_tools`: tools for models without tool calls.
- `timeouts`: time limits of a request.
- `token_estimate`: estimated tokens of an unanswered request.
- `user_code`: `python:module:attribute`.
- `user_headers`: the user's HTTP headers.
"""
