import { otlpSettings } from "./stage/settings.mjs";
import { pythonBin, runProgram } from "./stage/tools.mjs";

const trial = ({ name, instrumentation, packages, env = {}, inexact }) => ({
  name,
  packages: [...packages, "langchain-openai", "langchain-anthropic"].map((each) => `python:${each}`),
  inexact,
  run: ({ providers, source, program }) =>
    runProgram([pythonBin("python"), program("langchain_calls.py")], {
      env: {
        ...otlpSettings(source, "protobuf"),
        PROVIDERS: providers,
        INSTRUMENTATION: instrumentation,
        ...env,
      },
    }),
});

export default [
  trial({
    name: "LangChain, LangSmith",
    instrumentation: "langsmith",
    packages: ["langsmith"],
    env: { LANGSMITH_TRACING: "true", LANGSMITH_OTEL_ENABLED: "true", LANGSMITH_OTEL_ONLY: "true" },
  }),
  trial({
    name: "LangChain, OpenInference",
    instrumentation: "openinference",
    packages: ["openinference-instrumentation-langchain"],
    inexact: "writes to Claude's cache for an hour are not told",
  }),
];
