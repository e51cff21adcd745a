import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { npmBin, runProgram } from "./stage/tools.mjs";

/** A prompt of Gemini CLI, whose one switch sends logs, metrics and traces together. */
const geminiCli = {
  name: "Gemini CLI, logs, metrics and traces, http",
  packages: ["@google/gemini-cli"],
  run: ({ providers, source, folder }) => {
    mkdirSync(join(folder, ".gemini"));
    const settings = { security: { auth: { selectedType: "gemini-api-key" } } };
    writeFileSync(join(folder, ".gemini/settings.json"), JSON.stringify(settings));
    const program = npmBin("@google/gemini-cli/bundle/gemini.js");
    return runProgram([process.execPath, program, "-m", "gemini-2.5-flash", "-p", "Say hello."], {
      cwd: folder,
      env: {
        HOME: folder,
        GEMINI_API_KEY: "none",
        GOOGLE_GEMINI_BASE_URL: providers,
        GEMINI_CLI_TRUST_WORKSPACE: "true",
        GEMINI_TELEMETRY_ENABLED: "true",
        GEMINI_TELEMETRY_TARGET: "local",
        GEMINI_TELEMETRY_OTLP_PROTOCOL: "http",
        GEMINI_TELEMETRY_OTLP_ENDPOINT: source.otlp,
        GEMINI_TELEMETRY_LOG_PROMPTS: "false",
        OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer ${source.key}`,
      },
    });
  },
};

export default [geminiCli];
