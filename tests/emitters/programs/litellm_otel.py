"""Whole calls by LiteLLM's library with its callback `otel`. Of the library's streams, it wrote no spans when tried."""

import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
from opentelemetry import trace

mock = os.environ["PROVIDERS"]
litellm.callbacks = ["otel"]
messages = [{"role": "user", "content": "Say hello."}]
of_openai = {"model": "openai/gpt-4o-mini", "api_base": f"{mock}/v1"}
of_anthropic = {"model": "anthropic/claude-sonnet-4-5", "api_base": mock, "max_tokens": 100}
for settings in [of_openai, of_anthropic]:
    for index in range(3):
        metadata = {"feature": "greeting"}
        call = {**settings, "api_key": "none", "messages": messages, "metadata": metadata, "num_retries": 3}
        litellm.completion(**call, user="ada")

import time

time.sleep(3)
for callback in litellm.callbacks + litellm._async_success_callback + litellm.success_callback:
    provider = getattr(callback, "_tracer_provider", None)
    if provider is not None:
        provider.force_flush()
trace.get_tracer_provider().force_flush()
