import type { Language } from "@/components/ui/highlight";

/** The configuration of one assistant: the code, and the file or place for it. */
export type AgentSnippet = { assistant: string; where: string; language: Language; code: string };

/** A placeholder that the assistant replaces with a value. */
const placeholder = (name: string) => `\${${name}}`;

const json = (value: unknown) => JSON.stringify(value, null, 2);

/** Configurations for assistants that call the tools over HTTP. The key is read from the environment where the assistant can do so. */
export function writeRemoteSnippets(mcpUrl: string): AgentSnippet[] {
  const bearer = (variable: string) => ({ Authorization: `Bearer ${variable}` });
  return [
    {
      assistant: "Claude Code",
      where: "In a shell",
      language: "bash",
      code: `claude mcp add --transport http outlay ${mcpUrl} \\\n  --header "Authorization: Bearer $OUTLAY_API_KEY"`,
    },
    {
      assistant: "Cursor",
      where: "~/.cursor/mcp.json",
      language: "json",
      code: json({
        mcpServers: { outlay: { url: mcpUrl, headers: bearer(placeholder("env:OUTLAY_API_KEY")) } },
      }),
    },
    {
      assistant: "VS Code",
      where: ".vscode/mcp.json",
      language: "json",
      code: json({
        inputs: [{ type: "promptString", id: "outlay-key", description: "Outlay API key", password: true }],
        servers: { outlay: { type: "http", url: mcpUrl, headers: bearer(placeholder("input:outlay-key")) } },
      }),
    },
    {
      assistant: "Codex",
      where: "~/.codex/config.toml",
      language: "text",
      code: `[mcp_servers.outlay]\nurl = "${mcpUrl}"\nbearer_token_env_var = "OUTLAY_API_KEY"`,
    },
    {
      assistant: "Windsurf",
      where: "~/.codeium/windsurf/mcp_config.json",
      language: "json",
      code: json({
        mcpServers: { outlay: { serverUrl: mcpUrl, headers: bearer(placeholder("env:OUTLAY_API_KEY")) } },
      }),
    },
    {
      assistant: "Zed",
      where: "settings.json",
      language: "json",
      code: json({ context_servers: { outlay: { url: mcpUrl, headers: bearer("svc_live_…") } } }),
    },
  ];
}

/** The configuration of a bridge, for assistants that can only start programs. */
export function writeBridgeSnippet(mcpUrl: string): AgentSnippet {
  const isPlain = mcpUrl.startsWith("http://");
  // Some assistants split arguments at spaces, so the value with a space is in the environment.
  const args = ["-y", "mcp-remote", mcpUrl, "--header", `Authorization:${placeholder("AUTH_HEADER")}`];
  const outlay = {
    command: "npx",
    args: [...args, ...(isPlain ? ["--allow-http"] : [])],
    env: { AUTH_HEADER: "Bearer svc_live_…" },
  };
  return {
    assistant: "Claude Desktop, and any other",
    where: "claude_desktop_config.json",
    language: "json",
    code: json({ mcpServers: { outlay } }),
  };
}

/** The configuration of the local program, from a checkout of Outlay. */
export function writeLocalSnippet(baseUrl: string): AgentSnippet {
  const env = { SVC_BASE_URL: baseUrl, SVC_API_KEY: "svc_live_…" };
  return {
    assistant: "Any assistant",
    where: "From a checkout of Outlay",
    language: "json",
    code: json({ mcpServers: { outlay: { command: "npx", args: ["-y", "/path/to/outlay"], env } } }),
  };
}
