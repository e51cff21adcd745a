import { otlpSettings } from "./stage/settings.mjs";
import { pythonBin, runProgram } from "./stage/tools.mjs";

export default [
  {
    name: "LiteLLM, callback otel",
    packages: ["python:litellm"],
    inexact: "LiteLLM's figure is recorded as it is: a sum of floats, off after the 16th digit",
    run: ({ providers, source, program }) =>
      runProgram([pythonBin("python"), program("litellm_otel.py")], {
        env: {
          ...otlpSettings(source, "protobuf"),
          OTEL_EXPORTER: "otlp_http",
          OTEL_ENDPOINT: source.otlp,
          OTEL_HEADERS: `Authorization=Bearer ${source.key}`,
          PROVIDERS: providers,
        },
      }),
  },
];
