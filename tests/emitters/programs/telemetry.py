"""OpenTelemetry as an application of Python sets it up.

INSTRUMENTATION names what instruments the libraries, as `module:Class`, several with a comma between them. What was not sent
is sent when the program ends.
"""

import importlib
import os

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(provider)
for named in filter(None, os.environ.get("INSTRUMENTATION", "").split(",")):
    module, name = named.split(":")
    getattr(importlib.import_module(module), name)().instrument(tracer_provider=provider)
