import { join } from "node:path";
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernHttp,
} from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernStdio } from "@modelcontextprotocol/client/stdio";
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OlderStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as OlderHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { projectRoot } from "./project-root";

/** The result of a tool call. */
export type ToolResult = {
  isError: boolean;
  text: string;
  data: Record<string, unknown> | undefined;
};

/** A connected client of either SDK. */
export type McpClient = {
  /** The protocol version that was negotiated. */
  version: string | undefined;
  list(): Promise<{ name: string; annotations?: Record<string, unknown> | undefined }[]>;
  /** @param timeoutMs the time after which the client cancels the call. @param meta the call's `_meta` */
  call(
    name: string,
    args?: Record<string, unknown>,
    timeoutMs?: number,
    meta?: Record<string, unknown>,
  ): Promise<ToolResult>;
  close(): Promise<void>;
};

const identity = { name: "outlay-tests", version: "1.0.0" };

function readResult(result: object): ToolResult {
  const { isError, content, structuredContent } = result as {
    isError?: boolean;
    content?: { text?: string }[];
    structuredContent?: Record<string, unknown>;
  };
  return { isError: isError === true, text: content?.[0]?.text ?? "", data: structuredContent };
}

/** Connects with the present SDK, which requests protocol 2026-07-28. */
export async function connectModern(transport: ModernHttp | ModernStdio): Promise<McpClient> {
  const client = new ModernClient(identity, { versionNegotiation: { mode: "auto" } });
  await client.connect(transport);
  return {
    version: client.getNegotiatedProtocolVersion(),
    list: async () => (await client.listTools()).tools,
    call: async (name, args = {}, timeout = 20_000, _meta = {}) =>
      readResult(await client.callTool({ name, arguments: args, _meta }, { timeout })),
    close: () => client.close(),
  };
}

/** Connects with the SDK of the 2025 protocols. */
export async function connectOlder(transport: OlderHttp | OlderStdio): Promise<McpClient> {
  const client = new OlderClient(identity);
  // Its types do not support `exactOptionalPropertyTypes`.
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return {
    version: transport instanceof OlderHttp ? transport.protocolVersion : undefined,
    list: async () => (await client.listTools()).tools,
    call: async (name, args = {}, timeout = 20_000, _meta = {}) =>
      readResult(await client.callTool({ name, arguments: args, _meta }, undefined, { timeout })),
    close: () => client.close(),
  };
}

const withKey = (secret: string) => ({ requestInit: { headers: { authorization: `Bearer ${secret}` } } });

export const modernHttp = (url: string, secret: string) => new ModernHttp(new URL(url), withKey(secret));
export const olderHttp = (url: string, secret: string) => new OlderHttp(new URL(url), withKey(secret));

/** How the local program is started: the bundle, with only its settings in the environment. */
const localProgram = (baseUrl: string, secret: string) => ({
  command: process.execPath,
  args: [join(projectRoot, "dist/mcp.mjs")],
  env: { SVC_BASE_URL: baseUrl, SVC_API_KEY: secret },
  stderr: "ignore" as const,
});

export const modernStdio = (baseUrl: string, secret: string) =>
  new ModernStdio(localProgram(baseUrl, secret));
export const olderStdio = (baseUrl: string, secret: string) => new OlderStdio(localProgram(baseUrl, secret));

/** mcp-remote, which connects clients that support only stdio to the remote tools. */
export function throughMcpRemote(url: string, secret: string): OlderStdio {
  return new OlderStdio({
    command: process.execPath,
    args: [
      join(projectRoot, "node_modules/mcp-remote/dist/proxy.js"),
      url,
      "--header",
      `Authorization:Bearer ${secret}`,
      "--allow-http",
    ],
    stderr: "ignore",
  });
}
