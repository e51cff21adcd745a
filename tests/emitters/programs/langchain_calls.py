"""Calls of LangChain's models in a graph, told by LangSmith's export or by OpenInference, which is INSTRUMENTATION."""

import os

mock = os.environ["PROVIDERS"]
shutdown = lambda: None

if os.environ["INSTRUMENTATION"] == "langsmith":
    from langsmith import Client
    from opentelemetry import trace

    client = Client()
    shutdown = lambda: (client.flush(), trace.get_tracer_provider().force_flush())
else:
    import telemetry

from langchain_anthropic import ChatAnthropic
from langchain_core.runnables import RunnableLambda
from langchain_openai import ChatOpenAI

models = [
    ChatOpenAI(model="gpt-4o-mini", api_key="none", base_url=f"{mock}/v1", stream_usage=True),
    ChatOpenAI(model="gpt-4o-mini", api_key="none", base_url=f"{mock}/v1", use_responses_api=True),
    ChatAnthropic(model="claude-sonnet-4-5", api_key="none", base_url=mock, max_tokens=100),
]
config = {"metadata": {"user_id": "ada", "session_id": "s_1", "feature": "greeting"}}
for model in models:
    chain = RunnableLambda(lambda text: text) | model
    for _ in range(3):
        chain.invoke("Say hello.", config)
        for _ in chain.stream("Say hello.", config):
            pass
shutdown()
if os.environ["INSTRUMENTATION"] == "langsmith":
    from langchain_core.tracers.langchain import wait_for_all_tracers

    wait_for_all_tracers()
    shutdown()
