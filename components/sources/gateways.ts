import { exportLines, type Program, toJson } from "./setup";

/** The instructions for gateways and platforms, which report the calls that pass through them. */
export const gateways = {
  litellm: {
    label: "LiteLLM",
    description: "The proxy, by its generic_api callback.",
    name: "LiteLLM",
    unreported:
      "LiteLLM's generic_api drops the calls that end while it sends others. Its callback otel, sent to the address of “Anything else”, loses none.",
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
          code: exportLines({ OUTLAY_AUTHORIZATION: `Bearer ${secret}` }),
        },
      ],
      note: "LiteLLM's own cost is recorded. Set a request's project and feature in its metadata.",
    }),
  },
  "claude-platform": {
    label: "Anthropic, whole organization",
    description: "Spans of every call, sent by Anthropic.",
    name: "Claude platform",
    isHosted: true,
    setup: ({ url, secret }) => ({
      steps:
        "With an admin key of Anthropic, Settings, Bills does this for you. By hand, add a destination for OpenTelemetry in the Claude Console.",
      blocks: [
        { title: "Endpoint URL", language: "text", code: `${url}/api/otlp` },
        { title: "Headers", language: "json", code: toJson({ authorization: `Bearer ${secret}` }) },
      ],
      note: "Choose metadata only: Outlay stores no prompts. Every call is counted once, also where your programs report it, too.",
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
        { title: "Headers", language: "json", code: toJson({ Authorization: `Bearer ${secret}` }) },
      ],
      note: "Leave the sampling rate at 100%. OpenRouter's own cost is recorded.",
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
    description: "Send its traces here instead of to Langfuse.",
    name: "Langfuse SDK",
    setup: ({ url, secret }) => ({
      steps: "Change the address and the keys. The public key can be any text.",
      blocks: [
        {
          title: "Environment",
          language: "bash",
          code: exportLines({
            LANGFUSE_BASE_URL: url,
            LANGFUSE_PUBLIC_KEY: "pk-lf-outlay",
            LANGFUSE_SECRET_KEY: secret,
          }),
        },
      ],
    }),
  },
} satisfies Record<string, Program>;
