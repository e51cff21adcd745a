import { pythonTrial } from "./python.mjs";

export default [
  pythonTrial({
    name: "LiteLLM, callback otel",
    venv: "openai-2",
    program: "litellm_otel.py",
    packages: ["litellm"],
    inexact: "LiteLLM's figure is recorded as it is: a sum of floats, off after the 16th digit",
    env: ({ source }) => ({
      OTEL_EXPORTER: "otlp_http",
      OTEL_ENDPOINT: source.otlp,
      OTEL_HEADERS: `Authorization=Bearer ${source.key}`,
    }),
  }),
];
