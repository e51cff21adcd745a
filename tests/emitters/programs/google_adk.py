"""Runs of an agent of Google's Agent Development Kit with a tool, whole and streamed. ADK writes its spans itself."""

import asyncio
import os

os.environ["GOOGLE_API_KEY"] = "none"
os.environ["GOOGLE_GEMINI_BASE_URL"] = os.environ["PROVIDERS"]

import telemetry
from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.models import Gemini
from google.adk.runners import InMemoryRunner
from google.genai import types


def weather(city: str) -> str:
    """Tells the weather of a city."""
    return "Sunny."


async def main():
    # ADK tries again where that is asked for.
    model = Gemini(model="gemini-2.5-flash", retry_options=types.HttpRetryOptions(attempts=5, initial_delay=0.1))
    runner = InMemoryRunner(LlmAgent(name="greeting", model=model, tools=[weather]), app_name="shop")
    message = types.Content(role="user", parts=[types.Part(text="How is the weather in Paris?")])
    for mode in (StreamingMode.NONE, StreamingMode.SSE, StreamingMode.NONE, StreamingMode.SSE):
        session = await runner.session_service.create_session(app_name="shop", user_id="ada")
        config = RunConfig(streaming_mode=mode)
        async for _ in runner.run_async(
            user_id="ada", session_id=session.id, new_message=message, run_config=config
        ):
            pass


asyncio.run(main())
