"""Calls of LlamaIndex's models, whole and streamed, an agent with a tool, and embeddings."""

import asyncio
import os

import telemetry
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.embeddings.openai import OpenAIEmbedding
from llama_index.llms.anthropic import Anthropic
from llama_index.llms.openai import OpenAI, OpenAIResponses
from openinference.instrumentation import using_attributes

mock = os.environ["PROVIDERS"]
of_openai = {"model": "gpt-4o-mini", "api_key": "none", "api_base": f"{mock}/v1"}
openai = OpenAI(**of_openai, additional_kwargs={"stream_options": {"include_usage": True}})
whole = OpenAI(**of_openai)
responses = OpenAIResponses(**of_openai)
anthropic = Anthropic(model="claude-sonnet-4-5", api_key="none", base_url=mock, max_tokens=100)


def weather(city: str) -> str:
    """Tells the weather of a city."""
    return "Sunny."


async def run(agent):
    await agent.run("How is the weather in Paris?")


with using_attributes(user_id="ada", session_id="s_1", metadata={"feature": "greeting"}):
    models = [(whole, openai), (responses, responses)]
    if "WITHOUT_ANTHROPIC" not in os.environ:
        models.append((anthropic, anthropic))
    for model, streamed in models:
        model.complete("Say hello.")
        for _ in streamed.stream_complete("Say hello."):
            pass
        asyncio.run(run(FunctionAgent(tools=[weather], llm=streamed)))
    OpenAIEmbedding(model="text-embedding-3-small", api_key="none", api_base=f"{mock}/v1").get_text_embedding("hello")
