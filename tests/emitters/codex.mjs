import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { npmBin, runProgram } from "./stage/tools.mjs";

const native = `@openai/codex-${process.platform}-${process.arch}`;
const triple = {
  "linux-x64": "x86_64-unknown-linux-musl",
  "linux-arm64": "aarch64-unknown-linux-musl",
  "darwin-x64": "x86_64-apple-darwin",
  "darwin-arm64": "aarch64-apple-darwin",
}[`${process.platform}-${process.arch}`];

/** One turn of `codex exec`, which speaks OpenAI's Responses. It tells the same in logs, metrics and traces. */
const trial = (protocol, signals) => ({
  name: `Codex, ${signals.join(", ")}, ${protocol}`,
  packages: ["@openai/codex", native],
  run: ({ providers, source, folder }) => {
    const exporter = (signal) =>
      `{ otlp-http = { endpoint = "${source.otlp}/v1/${signal}", protocol = "${protocol}", headers = { "authorization" = "Bearer ${source.key}" } } }`;
    const settings = { logs: "exporter", traces: "trace_exporter", metrics: "metrics_exporter" };
    writeFileSync(
      join(folder, "config.toml"),
      `model = "gpt-5"
model_provider = "mock"
check_for_update_on_startup = false

[model_providers.mock]
name = "mock"
base_url = "${providers}/v1"
wire_api = "responses"
env_key = "MOCK_KEY"

[otel]
environment = "test"
${signals.map((signal) => `${settings[signal]} = ${exporter(signal)}`).join("\n")}
`,
    );
    const options = ["--skip-git-repo-check", "--sandbox", "read-only"];
    const program = npmBin(`${native}/vendor/${triple}/bin/codex`);
    return runProgram([program, "exec", ...options, "Say hello."], {
      cwd: folder,
      env: { HOME: folder, CODEX_HOME: folder, MOCK_KEY: "none" },
    });
  },
});

export default [trial("binary", ["logs"]), trial("json", ["logs", "traces", "metrics"])];
