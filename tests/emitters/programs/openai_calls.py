"""Calls of OpenAI's and Anthropic's Python SDKs under an instrumentation, which is INSTRUMENTATION.

Without it, the program knows nothing of telemetry: `opentelemetry-instrument` runs it.
"""

import importlib
import os

mock = os.environ["PROVIDERS"]
name = os.environ.get("INSTRUMENTATION")
shutdown = lambda: None

if name == "langfuse":
    from langfuse import get_client
    from langfuse.openai import OpenAI

    shutdown = lambda: get_client().shutdown()
elif name is None:
    from openai import OpenAI
else:
    from openai import OpenAI
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    shutdowns = [provider.shutdown]
    if name == "opentelemetry-openai-v2":
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor
        from opentelemetry.metrics import set_meter_provider
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

        meters = MeterProvider([PeriodicExportingMetricReader(OTLPMetricExporter())])
        set_meter_provider(meters)
        # The spans leave first, so that the calls are told one by one.
        shutdowns.append(meters.shutdown)
        OpenAIInstrumentor().instrument()
    else:
        for sdk, instrumentor in [("openai", "OpenAIInstrumentor"), ("anthropic", "AnthropicInstrumentor")]:
            module = importlib.import_module(f"{name}.instrumentation.{sdk}")
            getattr(module, instrumentor)().instrument()
    shutdown = lambda: [end() for end in shutdowns]

openai = OpenAI(api_key="none", base_url=f"{mock}/v1")
messages = [{"role": "user", "content": "Say hello."}]
openai.chat.completions.create(model="gpt-4o-mini", messages=messages)
for _ in openai.chat.completions.create(
    model="gpt-4o-mini", messages=messages, stream=True, stream_options={"include_usage": True}
):
    pass
openai.responses.create(model="gpt-4o-mini", input="Say hello.")
for _ in openai.responses.create(model="gpt-4o-mini", input="Say hello.", stream=True):
    pass
try:
    for _ in openai.chat.completions.create(
        model="gpt-4o-mini",
        messages=[{"role": "user", "content": "Break off."}],
        stream=True,
        stream_options={"include_usage": True},
    ):
        pass
except Exception:
    pass
openai.embeddings.create(model="text-embedding-3-small", input="hello")

if "WITHOUT_ANTHROPIC" not in os.environ:
    from anthropic import Anthropic

    anthropic = Anthropic(api_key="none", base_url=mock)
    call = {"model": "claude-sonnet-4-5", "max_tokens": 100, "messages": messages}
    anthropic.messages.create(**call)
    for _ in anthropic.messages.create(**call, stream=True):
        pass
    with anthropic.messages.stream(**call) as stream:
        stream.get_final_message()
    try:
        with anthropic.messages.stream(**{**call, "messages": [{"role": "user", "content": "Break off."}]}) as stream:
            stream.get_final_message()
    except Exception:
        pass

shutdown()
