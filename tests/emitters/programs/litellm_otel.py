"""Calls by LiteLLM's library with its callback `otel`, whole and streamed."""

import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm

mock = os.environ["PROVIDERS"]
litellm.callbacks = ["otel"]
messages = [{"role": "user", "content": "Say hello."}]
of_openai = {"model": "openai/gpt-4o-mini", "api_base": f"{mock}/v1"}
of_anthropic = {"model": "anthropic/claude-sonnet-4-5", "api_base": mock, "max_tokens": 100}
for settings in [of_openai, of_anthropic]:
    call = {**settings, "api_key": "none", "messages": messages, "num_retries": 3, "user": "ada"}
    for _ in range(3):
        litellm.completion(**call)
        # OpenAI counts a stream only where that is asked for.
        for _ in litellm.completion(**call, stream=True, stream_options={"include_usage": True}):
            pass
