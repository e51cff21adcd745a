"""Runs of an agent of Strands with a tool, on OpenAI and Anthropic. Strands writes its spans itself."""

import os

import telemetry
from strands import Agent, tool
from strands.models.anthropic import AnthropicModel
from strands.models.openai import OpenAIModel

mock = os.environ["PROVIDERS"]


@tool
def weather(city: str) -> str:
    """Tells the weather of a city."""
    return "Sunny."


def openai():
    return OpenAIModel(client_args={"api_key": "none", "base_url": f"{mock}/v1"}, model_id="gpt-4o-mini")


def anthropic():
    settings = {"api_key": "none", "base_url": mock}
    return AnthropicModel(client_args=settings, model_id="claude-sonnet-4-5", max_tokens=100)


attributes = {"user.id": "ada", "session.id": "s_1", "feature": "greeting"}
# Each run has an event loop of its own. On the connection of another one, Anthropic's SDK makes a call and loses its answer.
for model in (openai, openai, anthropic, anthropic):
    agent = Agent(
        model=model(), tools=[weather], trace_attributes=attributes, name="greeting", callback_handler=None
    )
    agent("How is the weather in Paris?")
