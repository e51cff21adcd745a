import type { Language } from "@/components/ui/highlight";

/** How one kind of assistant is connected: what to do, and what to paste. */
export type AssistantSetup = {
  name: string;
  /** What the pasted text is: a command, a file, an address. */
  title: string;
  language: Language;
  code: string;
  /** What comes before and after it. */
  steps: string;
  /** Whether its maker's servers call the service, rather than the program on one's own machine. */
  isHosted: boolean;
};

/**
 * How to connect each of the usual assistants. All of them sign in with OAuth; none needs a key.
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
        "An assistant that only starts local servers reaches it over this bridge, which opens a browser to sign in.",
      isHosted: false,
    },
  ];
}
