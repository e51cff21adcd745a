import type { Language } from "@/components/ui/highlight";

/** The configuration of one assistant: the code, and the file or place for it. */
export type AgentSnippet = { assistant: string; where: string; language: Language; code: string };

/** A placeholder that the assistant replaces with a value. */
const placeholder = (name: string) => `\${${name}}`;

const json = (assistant: string, where: string, value: unknown): AgentSnippet => ({
  assistant,
  where,
  language: "json",
  code: JSON.stringify(value, null, 2),
});

/** Configurations for assistants that call the tools over HTTP. The key is read from the environment where the assistant can do so. */
export function writeRemoteSnippets(url: string): AgentSnippet[] {
  const headers = (key: string) => ({ Authorization: `Bearer ${key}` });
  const fromEnvironment = headers(placeholder("env:OUTLAY_API_KEY"));
  const asked = { type: "promptString", id: "outlay-key", description: "Outlay API key", password: true };
  return [
    {
      assistant: "Claude Code",
      where: "In a shell",
      language: "bash",
      code: `claude mcp add --transport http outlay ${url} \\\n  --header "Authorization: Bearer $OUTLAY_API_KEY"`,
    },
    json("Cursor", "~/.cursor/mcp.json", { mcpServers: { outlay: { url, headers: fromEnvironment } } }),
    json("VS Code", ".vscode/mcp.json", {
      inputs: [asked],
      servers: { outlay: { type: "http", url, headers: headers(placeholder("input:outlay-key")) } },
    }),
    {
      assistant: "Codex",
      where: "~/.codex/config.toml",
      language: "text",
      code: `[mcp_servers.outlay]\nurl = "${url}"\nbearer_token_env_var = "OUTLAY_API_KEY"`,
    },
    json("Windsurf", "~/.codeium/windsurf/mcp_config.json", {
      mcpServers: { outlay: { serverUrl: url, headers: fromEnvironment } },
    }),
    json("Zed", "settings.json", { context_servers: { outlay: { url, headers: headers("svc_live_…") } } }),
  ];
}

/** The configuration of a bridge, for assistants that can only start programs. */
export function writeBridgeSnippet(url: string): AgentSnippet {
  // Some assistants split arguments at spaces, so the value with a space is in the environment.
  const args = ["-y", "mcp-remote", url, "--header", `Authorization:${placeholder("AUTH_HEADER")}`];
  if (url.startsWith("http://")) args.push("--allow-http");
  const outlay = { command: "npx", args, env: { AUTH_HEADER: "Bearer svc_live_…" } };
  return json("Claude Desktop, and any other", "claude_desktop_config.json", { mcpServers: { outlay } });
}

/** The configuration of the local program, from a checkout of Outlay. */
export function writeLocalSnippet(baseUrl: string): AgentSnippet {
  const env = { SVC_BASE_URL: baseUrl, SVC_API_KEY: "svc_live_…" };
  const outlay = { command: "npx", args: ["-y", "/path/to/outlay"], env };
  return json("Any assistant", "From a checkout of Outlay", { mcpServers: { outlay } });
}
