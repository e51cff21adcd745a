import { runProgram } from "./stage/tools.mjs";

const langfuse = {
  name: "Langfuse JS, OpenAI",
  packages: ["@langfuse/otel", "@langfuse/openai", "openai"],
  run: ({ providers, source, program }) =>
    runProgram([process.execPath, program("openai-calls.mjs")], {
      env: {
        LANGFUSE_BASE_URL: source.url,
        LANGFUSE_PUBLIC_KEY: "any",
        LANGFUSE_SECRET_KEY: source.key,
        PROVIDERS: providers,
        INSTRUMENTATION: "langfuse",
        WITHOUT_ANTHROPIC: "1",
      },
    }),
};

export default [langfuse];
