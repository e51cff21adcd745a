"""Runs of an agent of smolagents with a tool, whole and streamed."""

import os

import telemetry
from openinference.instrumentation import using_attributes
from smolagents import OpenAIModel, ToolCallingAgent, tool


@tool
def weather(city: str) -> str:
    """Tells the weather of a city.

    Args:
        city: The city.
    """
    return "Sunny."


model = OpenAIModel(model_id="gpt-4o-mini", api_base=f"{os.environ['PROVIDERS']}/v1", api_key="none")
with using_attributes(user_id="ada", session_id="s_1", metadata={"feature": "greeting"}):
    for stream in (False, True, False, True):
        agent = ToolCallingAgent(tools=[weather], model=model, stream_outputs=stream, verbosity_level=0)
        agent.run("How is the weather in Paris?")
