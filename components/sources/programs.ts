import type { Language } from "@/components/ui/highlight";
import type { SourceProgram } from "@/lib/contract/source-programs";

/** Something to paste: `title` says where, or how it is run. */
export type SetupBlock = { title: string; language: Language; code: string };

/** What a person does to have a program send: `steps` before the blocks, `note` after them. */
export type Setup = { steps: string; blocks: SetupBlock[]; note?: string };

/** What instructions need: the address of the service, the key's secret and id, and its project if it has exactly one. */
export type SetupContext = { url: string; secret: string; keyId: string; project: string | undefined };

type Program = {
  label: string;
  description: string;
  /** The name that a new source is given. */
  name: string;
  /** Whether it sends from its provider's servers, which cannot reach a local address. */
  isHosted?: true;
  setup: (context: SetupContext) => Setup;
};

const json = (value: unknown) => JSON.stringify(value, null, 2);
const exports = (variables: Record<string, string>) =>
  Object.entries(variables)
    .map(([name, value]) => `export ${name}="${value}"`)
    .join("\n");

const otlp = ({ url, secret }: SetupContext) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/api/otlp`,
  OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
  OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer ${secret}`,
});

const claudeCode = (context: SetupContext) =>
  json({
    env: {
      CLAUDE_CODE_ENABLE_TELEMETRY: "1",
      OTEL_LOGS_EXPORTER: "otlp",
      ...otlp(context),
    },
  });

const attributes = ({ project }: SetupContext) =>
  project === undefined
    ? "To name the project of each program, set OTEL_RESOURCE_ATTRIBUTES=project=<slug>, or choose another attribute in the settings of the source."
    : undefined;

const withNote = (setup: Setup, note: string | undefined): Setup =>
  note === undefined ? setup : { ...setup, note };

/** The instructions for each program, in the order of the page. */
export const programs: Record<SourceProgram, Program> = {
  "claude-code": {
    label: "Claude Code",
    description: "On your own machine, by user settings.",
    name: "Claude Code",
    setup: (context) => ({
      steps: "Add this to your user settings and start Claude Code again.",
      blocks: [{ title: "~/.claude/settings.json", language: "json", code: claudeCode(context) }],
      note: "Project settings cannot set where telemetry goes. If a Pro or Max plan covers your usage, say so in the settings of the source.",
    }),
  },
  "claude-code-team": {
    label: "Claude Code for a team",
    description: "On every machine, by managed settings.",
    name: "Claude Code, team",
    setup: (context) => ({
      steps:
        "Deploy this to every machine: as /Library/Application Support/ClaudeCode/managed-settings.json on macOS, as /etc/claude-code/managed-settings.json on Linux. Managed settings win over everybody's own.",
      blocks: [{ title: "managed-settings.json", language: "json", code: claudeCode(context) }],
      note: "Each record has its person, so spend can be read by user. The key stands on every machine: it can log usage and do nothing else.",
    }),
  },
  codex: {
    label: "Codex",
    description: "OpenAI's Codex CLI.",
    name: "Codex",
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
      steps: "Add both. Without logPrompts: false, Gemini CLI sends prompts, which Outlay does not keep.",
      blocks: [
        {
          title: "~/.gemini/settings.json",
          language: "json",
          code: json({
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
          code: exports({ OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer ${secret}` }),
        },
      ],
    }),
  },
  copilot: {
    label: "GitHub Copilot",
    description: "Copilot Chat in VS Code, and Copilot CLI.",
    name: "Copilot",
    setup: (context) => ({
      steps: "Add the settings, and start VS Code or Copilot CLI with the environment.",
      blocks: [
        {
          title: "VS Code: settings.json",
          language: "json",
          code: json({
            "github.copilot.chat.otel.enabled": true,
            "github.copilot.chat.otel.exporterType": "otlp-http",
            "github.copilot.chat.otel.otlpEndpoint": `${context.url}/api/otlp`,
            "github.copilot.chat.otel.captureContent": false,
          }),
        },
        {
          title: "Environment",
          language: "bash",
          code: exports({ COPILOT_OTEL_ENABLED: "true", ...otlp(context) }),
        },
      ],
      note: "If Copilot seats cover the usage, say so in the settings of the source.",
    }),
  },
  "ai-sdk": {
    label: "AI SDK",
    description: "Vercel's SDK for TypeScript.",
    name: "AI SDK",
    setup: (context) =>
      withNote(
        {
          steps: "Start the exporter with your program, and turn telemetry on for each call.",
          blocks: [
            { title: "Environment", language: "bash", code: exports(otlp(context)) },
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
                "  opentelemetry-instrumentation-openai-v2",
              ].join("\n"),
            },
            {
              title: "Run",
              language: "bash",
              code: [
                exports({
                  ...otlp(context),
                  // Python reads headers as they are written in URLs.
                  OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer%20${context.secret}`,
                  OTEL_METRICS_EXPORTER: "none",
                }),
                "opentelemetry-instrument python app.py",
              ].join("\n"),
            },
          ],
        },
        attributes(context),
      ),
  },
  litellm: {
    label: "LiteLLM",
    description: "The proxy, by its generic_api callback.",
    name: "LiteLLM",
    setup: ({ url, secret }) => ({
      steps: "Add the callback to the proxy's configuration, and the key to its environment.",
      blocks: [
        {
          title: "config.yaml",
          language: "text",
          code: [
            "litellm_settings:",
            '  callbacks: ["outlay"]',
            "",
            "callback_settings:",
            "  outlay:",
            "    callback_type: generic_api",
            `    endpoint: ${url}/api/v1/sources/litellm`,
            "    headers:",
            "      Authorization: os.environ/OUTLAY_AUTHORIZATION",
            "    max_retries: 5",
            "    retry_delay: 1",
          ].join("\n"),
        },
        {
          title: "Environment",
          language: "bash",
          code: exports({ OUTLAY_AUTHORIZATION: `Bearer ${secret}` }),
        },
      ],
      note: "LiteLLM's own cost is recorded. Set a request's project and feature in its metadata.",
    }),
  },
  openrouter: {
    label: "OpenRouter",
    description: "Broadcast to a webhook.",
    name: "OpenRouter",
    isHosted: true,
    setup: ({ url, secret }) => ({
      steps: "In OpenRouter, open Settings, Observability, turn on Broadcast and add a webhook.",
      blocks: [
        { title: "URL, method POST", language: "text", code: `${url}/api/v1/sources/openrouter` },
        { title: "Headers", language: "json", code: json({ Authorization: `Bearer ${secret}` }) },
      ],
      note: "Leave the sampling rate at 100 %. OpenRouter's own cost is recorded.",
    }),
  },
  helicone: {
    label: "Helicone",
    description: "A signed webhook.",
    name: "Helicone",
    isHosted: true,
    setup: ({ url, secret, keyId }) => ({
      steps:
        "In Helicone, add a webhook with this address and turn on “Include data”. Then store the HMAC key that Helicone shows.",
      blocks: [
        {
          title: "Webhook address",
          language: "text",
          code: `${url}/api/v1/sources/helicone?key_id=${keyId}`,
        },
        {
          title: "Store the HMAC key",
          language: "bash",
          code: [
            `curl -X PUT ${url}/api/v1/sources/helicone/secret \\`,
            `  -H "Authorization: Bearer ${secret}" \\`,
            '  -H "Content-Type: application/json" \\',
            `  -d '{"secret": "<the HMAC key>"}'`,
          ].join("\n"),
        },
      ],
    }),
  },
  langfuse: {
    label: "Langfuse SDK",
    description: "Send its traces here in Langfuse's place.",
    name: "Langfuse SDK",
    setup: ({ url, secret }) => ({
      steps: "Change the address and the keys. The public key can be any text.",
      blocks: [
        {
          title: "Environment",
          language: "bash",
          code: exports({
            LANGFUSE_BASE_URL: url,
            LANGFUSE_PUBLIC_KEY: "pk-lf-outlay",
            LANGFUSE_SECRET_KEY: secret,
          }),
        },
      ],
    }),
  },
  otlp: {
    label: "Anything else",
    description: "Whatever speaks OpenTelemetry over HTTP.",
    name: "OpenTelemetry",
    setup: (context) =>
      withNote(
        {
          steps: "Set these where your program runs. Traces, logs and metrics are received.",
          blocks: [{ title: "Environment", language: "bash", code: exports(otlp(context)) }],
        },
        attributes(context),
      ),
  },
};

/** The label of a program; undefined for none. */
export function programLabel(program: SourceProgram | null): string | undefined {
  return program === null ? undefined : programs[program].label;
}
