import { npmBin, runProgram } from "./stage/tools.mjs";

const native = `@github/copilot-${process.platform}-${process.arch}`;

/** Copilot CLI with a provider of its own, for which it needs no account of GitHub's. */
const trial = (name, protocol, provider) => ({
  name: `Copilot CLI, ${name}, ${protocol}`,
  packages: ["@github/copilot", native],
  ...(name === "Anthropic" && { inexact: "writes to Claude's cache for an hour are not reported" }),
  run: ({ providers, source, folder }) =>
    runProgram([npmBin(`${native}/copilot`), "-p", "Say hello.", "--trust-folder", "--no-auto-update"], {
      cwd: folder,
      env: {
        HOME: folder,
        COPILOT_HOME: folder,
        COPILOT_OFFLINE: "true",
        COPILOT_PROVIDER_API_KEY: "none",
        ...provider(providers),
        OTEL_EXPORTER_OTLP_ENDPOINT: source.otlp,
        OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer ${source.key}`,
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      },
    }),
});

export default [
  trial("OpenAI", "http/json", (url) => ({ COPILOT_PROVIDER_BASE_URL: `${url}/v1`, COPILOT_MODEL: "gpt-5" })),
  trial("Anthropic", "http/protobuf", (url) => ({
    COPILOT_PROVIDER_BASE_URL: url,
    COPILOT_PROVIDER_TYPE: "anthropic",
    COPILOT_MODEL: "claude-sonnet-4-5",
  })),
];
