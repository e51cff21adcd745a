import type { Language } from "@/components/ui/highlight";

/** How to connect one kind of assistant. */
export type AssistantSetup = {
  name: string;
  /** What `code` is: "Command", a file name, "Address". */
  title: string;
  language: Language;
  code: string;
  /** What to do with `code`. */
  steps: string;
  /** True when the provider's servers call the service, instead of a program on the user's machine. */
  isHosted: boolean;
};

/**
 * How to connect the common assistants. All of them sign in with OAuth and need no key.
 * @param url the agent tools' endpoint
 */
export function assistantSetups(url: string): AssistantSetup[] {
  const pretty = (value: unknown) => JSON.stringify(value, null, 2);
  return [
    {
      name: "Claude Code",
      title: "Command",
      language: "bash",
      code: `claude mcp add --transport http outlay ${url}`,
      steps: "Run this, then type /mcp in Claude Code and sign in.",
      isHosted: false,
    },
    {
      name: "Claude",
      title: "Address",
      language: "text",
      code: url,
      steps:
        "On the web or in Claude Desktop: Settings, Connectors, Add custom connector. Paste this address, then Connect.",
      isHosted: true,
    },
    {
      name: "Cursor",
      title: ".cursor/mcp.json",
      language: "json",
      code: pretty({ mcpServers: { outlay: { url } } }),
      steps: "Put this into the file, then sign in where Cursor's settings list the server.",
      isHosted: false,
    },
    {
      name: "VS Code",
      title: ".vscode/mcp.json",
      language: "json",
      code: pretty({ servers: { outlay: { type: "http", url } } }),
      steps: "Put this into the file, press Start above the server's name, and sign in.",
      isHosted: false,
    },
    {
      name: "ChatGPT",
      title: "Address",
      language: "text",
      code: url,
      steps:
        "In Settings, Connectors, turn on developer mode. Create a connector with this address and OAuth.",
      isHosted: true,
    },
    {
      name: "Others",
      title: "Configuration",
      language: "json",
      code: pretty({ mcpServers: { outlay: { command: "npx", args: ["-y", "mcp-remote", url] } } }),
      steps:
        "For assistants that can only start local servers. This bridge connects them and opens a browser to sign in.",
      isHosted: false,
    },
  ];
}
