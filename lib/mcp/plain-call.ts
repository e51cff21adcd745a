import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  classifyInboundRequest,
  PROTOCOL_VERSION_META_KEY,
  SERVER_INFO_META_KEY,
} from "@modelcontextprotocol/server";
import { metaKeys } from "./call-meta";

/** A tool call with nothing unusual. `meta` is the caller's `_meta` without the fields of the protocol. */
export type PlainCall = {
  id: string | number;
  name: string;
  arguments: Record<string, unknown>;
  meta: Record<string, unknown>;
};

/** The version of the protocol whose calls can be plain. */
const version = "2026-07-28";

const envelopeKeys = [PROTOCOL_VERSION_META_KEY, CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY];
const allowedMeta: ReadonlySet<string> = new Set([...envelopeKeys, ...metaKeys]);

/** The client descriptions of calls, as JSON, that the SDK has accepted. A client sends the same one with each call. */
const accepted = new Set<string>();
const maxAccepted = 1_000;
const maxEnvelopeLength = 2_000;

/** The number of remembered client descriptions. */
export const acceptedEnvelopes = (): number => accepted.size;

/**
 * Reads a tool call for which the SDK would only run the tool and return its result. The SDK validates a call four times and
 * creates a server and a transport for it, which costs as much as all the rest of the call; see
 * docs/decisions/0033-keep-the-mcp-sdk-transport.md.
 * @returns undefined for any other request, which the SDK has to answer
 */
export function readPlainCall(request: Request, body: unknown): PlainCall | undefined {
  if (!hasOnly(body, ["jsonrpc", "id", "method", "params"])) return undefined;
  const { jsonrpc, id, method, params } = body;
  if (jsonrpc !== "2.0" || method !== "tools/call" || !isId(id)) return undefined;
  if (!hasOnly(params, ["name", "arguments", "_meta"])) return undefined;
  const { name, arguments: given = {}, _meta: meta } = params;
  if (typeof name !== "string" || !isObject(given) || !isObject(meta)) return undefined;
  if (!Object.keys(meta).every((key) => allowedMeta.has(key))) return undefined;
  if (!agree(request.headers, name) || !isAccepted(meta, body)) return undefined;
  return { id, name, arguments: given, meta };
}

/** The answer to a plain call, as the SDK writes it (Model Context Protocol 2026-07-28, "Calling tools"). */
export function plainAnswer(
  { id }: PlainCall,
  result: CallToolResult,
  serverInfo: { name: string; title: string; version: string },
): Response {
  const text = JSON.stringify({
    result: { ...result, resultType: "complete", _meta: { [SERVER_INFO_META_KEY]: serverInfo } },
    jsonrpc: "2.0",
    id,
  });
  return new Response(text, { status: 200, headers: { "Content-Type": "application/json" } });
}

/** Whether the headers match the body, as the protocol requires. */
function agree(headers: Headers, name: string): boolean {
  return (
    headers.get("content-type") === "application/json" &&
    headers.get("mcp-protocol-version") === version &&
    headers.get("mcp-method") === "tools/call" &&
    headers.get("mcp-name") === name
  );
}

function isAccepted(meta: Record<string, unknown>, body: unknown): boolean {
  if (meta[PROTOCOL_VERSION_META_KEY] !== version) return false;
  const envelope = JSON.stringify(envelopeKeys.map((key) => meta[key]));
  if (accepted.has(envelope)) return true;
  if (envelope.length > maxEnvelopeLength) return false;
  const outcome = classifyInboundRequest({ httpMethod: "POST", protocolVersionHeader: version, body });
  if (outcome.kind !== "modern") return false;
  if (accepted.size >= maxAccepted) accepted.clear();
  accepted.add(envelope);
  return true;
}

const isId = (id: unknown): id is string | number => typeof id === "string" || Number.isSafeInteger(id);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function hasOnly(value: unknown, names: string[]): value is Record<string, unknown> {
  return isObject(value) && Object.keys(value).every((name) => names.includes(name));
}
