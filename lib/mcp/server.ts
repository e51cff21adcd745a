import {
  type CallToolRequest,
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { text } from "@/lib/contract/fields";
import { parsePart } from "@/lib/contract/parse-part";
import { ServiceError, validationFailed } from "@/lib/errors";
import packageJson from "@/package.json";
import type { Backend } from "./backend";
import { fingerprintOf, type Retries } from "./retries";
import { listTools } from "./tool-list";
import { type Tool, toolsOf } from "./tools";
import { describeRefusal } from "./wording";

/** What the tools of one request (HTTP) or one connection (stdio) work with. */
export type ToolSession = {
  where: "remote" | "local";
  backend: Backend;
  retries: Retries;
  /** Whose calls these are: equal calls of different callers have nothing to do with each other. */
  caller: string;
  /** An id that no other client has, where there is one; see `Retries`. */
  session: string | undefined;
  /** Told of an error that is nobody's but ours; the caller is told nothing of it. */
  report: (error: unknown) => void;
};

const surfaces = {
  remote: prepare("remote"),
  local: prepare("local"),
};

function prepare(where: "remote" | "local") {
  const tools = toolsOf(where);
  return { list: listTools(tools), byName: new Map<string, Tool>(tools.map((tool) => [tool.name, tool])) };
}

/** Whether a tool sends anything before its result. None does, so that an answer is one JSON document. */
export const sendsBeforeResult = false;

const instructions =
  "Outlay records what a team spends on AI and software. Record with log_usage and add_expense, once for each use or expense. Projects are slugs and are made when first used. Amounts are USD unless said otherwise. Before costly work, get_budget_status says what is left.";

/**
 * A Model Context Protocol server with the tools, for one request or connection. Built on the SDK's low-level server:
 * tools are declared once a process and not once a request, and refused arguments name their field.
 */
export function createToolServer(session: ToolSession): Server {
  const server = new Server(
    { name: "outlay", title: "Outlay", version: packageJson.version },
    { capabilities: { tools: { listChanged: false } }, instructions },
  );
  const surface = surfaces[session.where];
  server.setRequestHandler("tools/list", () => surface.list);
  server.setRequestHandler("tools/call", ({ params }, context) => {
    const tool = surface.byName.get(params.name);
    if (!tool) {
      const known = [...surface.byName.keys()].join(", ");
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `There is no tool ${JSON.stringify(params.name)}; there are ${known}.`,
      );
    }
    return callTool(tool, params, session, context);
  });
  return server;
}

async function callTool(
  tool: Tool,
  { arguments: given = {} }: CallToolRequest["params"],
  session: ToolSession,
  { mcpReq }: ServerContext,
): Promise<CallToolResult> {
  try {
    const args = readArguments(tool, given);
    const explicit = readExplicitKey(mcpReq._meta);
    const fingerprint = fingerprintOf(session.caller, tool.name, args);
    const recordingKey =
      explicit ?? session.retries.keyFor({ fingerprint, session: session.session, requestId: mcpReq.id });
    const onAbort = () => {
      if (!tool.isReadOnly && explicit === undefined) session.retries.lose(fingerprint, recordingKey);
    };
    if (mcpReq.signal.aborted) onAbort();
    else mcpReq.signal.addEventListener("abort", onAbort, { once: true });
    try {
      const { data, text: said } = await tool.run(args as never, { backend: session.backend, recordingKey });
      return { content: [{ type: "text", text: said }], structuredContent: JSON.parse(JSON.stringify(data)) };
    } finally {
      mcpReq.signal.removeEventListener("abort", onAbort);
    }
  } catch (error) {
    return refuse(error, session);
  }
}

function readArguments(tool: Tool, given: unknown): unknown {
  const read = parsePart(tool.input, given);
  if (!read.ok) throw validationFailed(read.issues);
  return read.value;
}

/** The idempotency key a client chose itself, as a message's `idempotency_key` is over REST. */
function readExplicitKey(meta: Record<string, unknown> | undefined): string | undefined {
  const read = parsePart(text(255).optional(), meta?.idempotency_key, "_meta.idempotency_key");
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
