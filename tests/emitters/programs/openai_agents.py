"""Runs of an agent of OpenAI's Agents SDK with a tool, whole and streamed, on both of OpenAI's interfaces."""

import asyncio
import os

import telemetry
from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool
from openai import AsyncOpenAI
from openinference.instrumentation import using_attributes


@function_tool
def weather(city: str) -> str:
    """Tells the weather of a city."""
    return "Sunny."


async def main():
    client = AsyncOpenAI(api_key="none", base_url=f"{os.environ['PROVIDERS']}/v1")
    for Model in (OpenAIResponsesModel, OpenAIChatCompletionsModel):
        agent = Agent(
            name="greeting",
            model=Model(model="gpt-4o-mini", openai_client=client),
            model_settings=ModelSettings(include_usage=True),
            tools=[weather],
        )
        for _ in range(2):
            await Runner.run(agent, "How is the weather in Paris?")
            async for _ in Runner.run_streamed(agent, "How is the weather in Paris?").stream_events():
                pass


with using_attributes(user_id="ada", session_id="s_1", metadata={"feature": "greeting"}):
    asyncio.run(main())
