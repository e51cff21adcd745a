import type { SourceProgram } from "@/lib/contract/sources/source-programs";
import { gateways } from "./gateways";
import { attributes, exportLines, otlp, type Program, type SetupContext, toJson, withNote } from "./setup";

const claudeCode = (context: SetupContext) =>
  toJson({
    env: {
      CLAUDE_CODE_ENABLE_TELEMETRY: "1",
      OTEL_LOGS_EXPORTER: "otlp",
      ...otlp(context),
    },
  });

const claudePlans = "a Claude Pro or Max plan";
const hourUnreported =
  "It does not say how long Claude keeps what it writes to the cache. What is kept for an hour is priced as kept for five minutes, 37.5% too low.";
const claudeUnreported =
  "Use version 2.1.330 or later. Earlier ones may not report how long Claude keeps what it writes to the cache: what is kept for an hour is then priced as kept for five minutes, 37.5% too low.";

/** The instructions for each program, in the order of the page. */
export const programs: Record<SourceProgram, Program> = {
  "claude-code": {
    label: "Claude Code",
    description: "On your own machine, by user settings.",
    name: "Claude Code",
    subscriptions: claudePlans,
    unreported: claudeUnreported,
    setup: (context) => ({
      steps: "Add this to your user settings and start Claude Code again.",
      blocks: [{ title: "~/.claude/settings.json", language: "json", code: claudeCode(context) }],
      note: "Project settings cannot set where telemetry goes.",
    }),
  },
  "claude-code-team": {
    label: "Claude Code for a team",
    description: "On every machine, by managed settings.",
    name: "Claude Code, team",
    subscriptions: "Claude Team or Enterprise seats",
    unreported: claudeUnreported,
    setup: (context) => ({
      steps:
        "Deploy this to every machine: as /Library/Application Support/ClaudeCode/managed-settings.json on macOS, as /etc/claude-code/managed-settings.json on Linux. Managed settings override each user's own.",
      blocks: [{ title: "managed-settings.json", language: "json", code: claudeCode(context) }],
      note: "Each record names its person, so you can see spend by user. The key is on every machine, so it can only log usage.",
    }),
  },
  codex: {
    label: "Codex",
    description: "OpenAI's Codex CLI.",
    name: "Codex",
    subscriptions: "a ChatGPT plan",
    unreported:
      "Codex does not report the service tier of a call: in OpenAI's fast mode a call costs twice the standard price, in flex half.",
    setup: ({ url, secret }) => ({
      steps: "Add this to Codex's configuration.",
      blocks: [
        {
          title: "~/.codex/config.toml",
          language: "text",
          code: [
            "[otel]",
            "log_user_prompt = false",
            "",
            "[otel.exporter.otlp-http]",
            `endpoint = "${url}/api/otlp/v1/logs"`,
            'protocol = "binary"',
            "",
            "[otel.exporter.otlp-http.headers]",
            `Authorization = "Bearer ${secret}"`,
          ].join("\n"),
        },
      ],
    }),
  },
  "gemini-cli": {
    label: "Gemini CLI",
    description: "Google's command line assistant.",
    name: "Gemini CLI",
    setup: ({ url, secret }) => ({
      steps:
        "Add both lines. Without logPrompts: false, Gemini CLI also sends prompts; Outlay does not store them.",
      blocks: [
        {
          title: "~/.gemini/settings.json",
          language: "json",
          code: toJson({
            telemetry: {
              enabled: true,
              target: "local",
              otlpProtocol: "http",
              otlpEndpoint: `${url}/api/otlp`,
              logPrompts: false,
            },
          }),
        },
        {
          title: "Environment",
          language: "bash",
          code: exportLines({ OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer ${secret}` }),
        },
      ],
    }),
  },
  copilot: {
    label: "GitHub Copilot",
    description: "Copilot Chat in VS Code, and Copilot CLI.",
    name: "Copilot",
    subscriptions: "Copilot seats",
    unreported: `Copilot does not report the service tier of a call. ${hourUnreported}`,
    setup: (context) => ({
      steps: "Add the settings, and start VS Code or Copilot CLI with the environment.",
      blocks: [
        {
          title: "VS Code: settings.json",
          language: "json",
          code: toJson({
            "github.copilot.chat.otel.enabled": true,
            "github.copilot.chat.otel.exporterType": "otlp-http",
            "github.copilot.chat.otel.otlpEndpoint": `${context.url}/api/otlp`,
            "github.copilot.chat.otel.captureContent": false,
          }),
        },
        {
          title: "Environment",
          language: "bash",
          code: exportLines({ COPILOT_OTEL_ENABLED: "true", ...otlp(context) }),
        },
      ],
    }),
  },
  "ai-sdk": {
    label: "AI SDK",
    description: "Vercel's SDK for TypeScript.",
    name: "AI SDK",
    unreported: `Version 5 does not report what generateText of OpenAI read from the cache, which is recorded as input, at two to ten times its price. Version 7 reports that, but not how long Claude's cache is kept: what is written for an hour is recorded 37.5% too low.`,
    setup: (context) =>
      withNote(
        {
          steps: "Start the exporter with your program, and turn telemetry on for each call.",
          blocks: [
            { title: "Environment", language: "bash", code: exportLines(otlp(context)) },
            {
              title: "instrumentation.ts",
              language: "typescript",
              code: [
                'import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";',
                'import { NodeSDK } from "@opentelemetry/sdk-node";',
                "",
                "// The exporter reads the environment.",
                "new NodeSDK({ traceExporter: new OTLPTraceExporter() }).start();",
              ].join("\n"),
            },
            {
              title: "Each call",
              language: "typescript",
              code: [
                "await generateText({",
                "  model,",
                "  prompt,",
                "  experimental_telemetry: {",
                "    isEnabled: true,",
                "    recordInputs: false,",
                "    recordOutputs: false,",
                '    functionId: "search",',
                "  },",
                "});",
              ].join("\n"),
            },
          ],
        },
        attributes(context),
      ),
  },
  python: {
    label: "Python",
    description: "OpenTelemetry's instrumentation of SDKs.",
    name: "Python",
    unreported:
      'What a stream of OpenAI\'s chat completions used is reported only if the call asks for it: stream_options={"include_usage": True}. Without it, the call is not recorded.',
    setup: (context) =>
      withNote(
        {
          steps: "Install the instrumentation of the SDK that you use, and start your program with it.",
          blocks: [
            {
              title: "Install",
              language: "bash",
              code: [
                "pip install opentelemetry-distro opentelemetry-exporter-otlp-proto-http \\",
                "  opentelemetry-instrumentation-openai opentelemetry-instrumentation-anthropic",
              ].join("\n"),
            },
            {
              title: "Run",
              language: "bash",
              code: [
                exportLines({
                  ...otlp(context),
                  // OpenTelemetry for Python decodes headers like URLs.
                  OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer%20${context.secret}`,
                  OTEL_METRICS_EXPORTER: "none",
                  TRACELOOP_TRACE_CONTENT: "false",
                }),
                "opentelemetry-instrument python app.py",
              ].join("\n"),
            },
          ],
        },
        attributes(context),
      ),
  },
  ...gateways,
  otlp: {
    label: "Anything else",
    description: "Any program that sends OpenTelemetry over HTTP.",
    name: "OpenTelemetry",
    unreported:
      "Some libraries do not report what was read from a cache, or report no counts of streams. Instrument the SDK that makes the calls, too: of two spans, one around the other, the inner one counts.",
    setup: (context) =>
      withNote(
        {
          steps: "Set these where your program runs. Traces, logs and metrics are received.",
          blocks: [{ title: "Environment", language: "bash", code: exportLines(otlp(context)) }],
        },
        attributes(context),
      ),
  },
};

/** The label of a program; undefined for none. */
export function programLabel(program: SourceProgram | null): string | undefined {
  return program === null ? undefined : programs[program].label;
}
