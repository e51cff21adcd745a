/** A tool call as a client sends it. @param era the protocol's version */
export function toolCall(
  era: "2026" | "2025",
  name: string,
  args: Record<string, unknown>,
  { id = 1, meta = {} }: { id?: number | string; meta?: Record<string, unknown> } = {},
): { body: Record<string, unknown>; headers: Record<string, string> } {
  const version = era === "2026" ? "2026-07-28" : "2025-11-25";
  const envelope =
    era === "2026"
      ? {
          "io.modelcontextprotocol/protocolVersion": version,
          "io.modelcontextprotocol/clientCapabilities": {},
        }
      : {};
  return {
    body: {
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: { name, arguments: args, _meta: { ...envelope, ...meta } },
    },
    headers: {
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": version,
      ...(era === "2026" && { "mcp-method": "tools/call", "mcp-name": name }),
    },
  };
}
