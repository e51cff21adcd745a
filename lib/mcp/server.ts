import {
  type CallToolRequest,
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { parsePart } from "@/lib/contract/values/parse-part";
import { ServiceError, validationFailed } from "@/lib/errors";
import packageJson from "@/package.json";
import type { Backend } from "./backend";
import { type Attribution, readAttribution, readExplicitKey } from "./call-meta";
import type { PlainCall } from "./plain-call";
import { fingerprintOf, type Retries } from "./retries";
import { listTools } from "./tool-list";
import { type Tool, type ToolAnswer, toolsOf } from "./tools";
import { describeRefusal } from "./wording";

/** The context of the tools during one HTTP request or one stdio connection. */
export type ToolSession = {
  where: "remote" | "local";
  backend: Backend;
  retries: Retries;
  /** Identifies the caller, so that a call is never taken for a retry of another caller's call. */
  caller: string;
  /** An id that no other client has, if the client has one (see `Retries`). */
  session: string | undefined;
  /** Reports an internal error. The caller gets no details. */
  report: (error: unknown) => void;
};

type Surface = { list: ReturnType<typeof listTools>; byName: Map<string, Tool> };

const surfaces = new Map<ToolSession["where"], Surface>();

/** The tools, declared at the first request of a process, because their schemas take time to describe. */
function surfaceOf(where: ToolSession["where"]): Surface {
  const declared = surfaces.get(where);
  if (declared) return declared;
  const tools = toolsOf(where);
  const surface = {
    list: listTools(tools),
    byName: new Map<string, Tool>(tools.map((tool) => [tool.name, tool])),
  };
  surfaces.set(where, surface);
  return surface;
}

/** Whether a tool sends messages before its result. None does, so an answer is one JSON document and no event stream. */
export const sendsBeforeResult = false;

/** How the server names itself to clients. */
export const serverInfo = { name: "outlay", title: "Outlay", version: packageJson.version };

const instructions =
  "Outlay records what a team spends on AI and software. Call log_usage or add_expense once for each use or expense. A project is named by its slug and is created when it is first used. Amounts are in USD unless a currency is given. Call check_budget before costly work to see whether it fits into what is left.";

/**
 * Creates a Model Context Protocol server with the tools, for one request or connection. It is the SDK's low-level server, so
 * that tools are declared once per process instead of once per request, and errors in arguments name their field.
 */
export function createToolServer(session: ToolSession): Server {
  const server = new Server(serverInfo, { capabilities: { tools: { listChanged: false } }, instructions });
  const surface = surfaceOf(session.where);
  server.setRequestHandler("tools/list", () => surface.list);
  server.setRequestHandler("tools/call", ({ params }, context) => {
    const tool = surface.byName.get(params.name);
    if (!tool) {
      const known = [...surface.byName.keys()].join(", ");
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `There is no tool ${JSON.stringify(params.name)}. The tools are: ${known}.`,
      );
    }
    return callTool(tool, params, session, context);
  });
  return server;
}

/**
 * Runs a tool without the SDK.
 * @param signal aborts when the client disconnects
 * @returns undefined if there is no such tool; then nothing was done
 */
export function callPlainly(
  { id, name, arguments: given, meta }: PlainCall,
  session: ToolSession,
  signal: AbortSignal,
): Promise<CallToolResult> | undefined {
  const tool = surfaceOf(session.where).byName.get(name);
  return tool && callTool(tool, { name, arguments: given }, session, { mcpReq: { id, signal, _meta: meta } });
}

/** The part of the SDK's context that a call needs. */
type Called = { mcpReq: Pick<ServerContext["mcpReq"], "id" | "signal" | "_meta"> };

async function callTool(
  tool: Tool,
  { arguments: given = {} }: CallToolRequest["params"],
  session: ToolSession,
  { mcpReq }: Called,
): Promise<CallToolResult> {
  try {
    const args = readArguments(tool, given);
    const explicit = readExplicitKey(mcpReq._meta);
    const attribution = tool.isReadOnly ? {} : readAttribution(mcpReq._meta);
    const { data, text: said } =
      tool.isReadOnly || explicit !== undefined
        ? await tool.run(args as never, {
            backend: session.backend,
            recordingKey: explicit ?? "",
            attribution,
          })
        : await runRecognised(tool, args, attribution, session, mcpReq);
    return { content: [{ type: "text", text: said }], structuredContent: JSON.parse(JSON.stringify(data)) };
  } catch (error) {
    return refuse(error, session);
  }
}

/** Runs a tool that records, under the key of the call that it repeats, if any (see `Retries`). */
async function runRecognised(
  tool: Tool,
  args: unknown,
  attribution: Attribution,
  { backend, retries, caller, session }: ToolSession,
  { id: requestId, signal }: Called["mcpReq"],
): Promise<ToolAnswer> {
  const fingerprint = () => fingerprintOf(caller, tool.name, [args, attribution]);
  const { key: recordingKey, isRetry } = retries.keyFor({ fingerprint, session, requestId });
  const lose = () => retries.lose(fingerprint(), recordingKey);
  if (signal.aborted) lose();
  else signal.addEventListener("abort", lose, { once: true });
  try {
    return await tool.run(args as never, { backend, recordingKey, attribution });
  } catch (error) {
    // The repeated call is still unanswered, so the next retry needs its key.
    if (isRetry && !signal.aborted) lose();
    throw error;
  } finally {
    signal.removeEventListener("abort", lose);
  }
}

function readArguments(tool: Tool, given: unknown): unknown {
  const read = parsePart(tool.input, given);
  if (!read.ok) throw validationFailed(read.issues);
  return read.value;
}

function refuse(error: unknown, { report }: ToolSession): CallToolResult {
  const known = error instanceof ServiceError ? error : undefined;
  if (!known || known.status >= 500) report(error);
  const said =
    known ??
    new ServiceError(
      "internal_error",
      "Something went wrong on Outlay's side. Try again; tell the user if it persists.",
    );
  return { content: [{ type: "text", text: describeRefusal(said) }], isError: true };
}
