import { isJSONRPCRequest, isJSONRPCResponse, McpServer, type Transport } from "@modelcontextprotocol/server";
import type { ToolSession } from "@/lib/mcp/server";
import { registerInputTools, state } from "./example-input";
import { registerPrompts, registerResources } from "./example-resources";
import { registerAskingTools, registerTools } from "./example-tools";

/** The service keeps no streams of changes, and so none of its servers may say that its lists change. */
const capabilities = {
  logging: {},
  tools: { listChanged: false },
  prompts: { listChanged: false },
  resources: { listChanged: false, subscribe: true },
};

/**
 * Takes the place of `lib/mcp/server.ts` in the service that the public suite is run against: the suite's own example
 * tools, resources and prompts, behind the service's own admission and transport.
 */
export function createToolServer({ session }: Pick<ToolSession, "session">): McpServer {
  const server = new McpServer(
    { name: "outlay-conformance", version: "1.0.0" },
    { capabilities, requestState: { verify: state.verify } },
  );
  registerTools(server);
  registerAskingTools(server);
  registerInputTools(server);
  registerResources(server);
  registerPrompts(server);
  const connect = server.connect.bind(server);
  server.connect = async (transport) => {
    await connect(transport);
    relayAnswers(transport, session ?? "");
  };
  return server;
}

/** Some of these tools log, report progress or ask before they answer. */
export const sendsBeforeResult = true;

/** No call of these tools is answered without the SDK, which is what the suite tests. */
export const callPlainly = () => undefined;

export const serverInfo = { name: "example", title: "Example", version: "1.0.0" };

/** The transports whose server waits for an answer of its client, by the session and the question's id. */
const asking = new Map<string, NonNullable<Transport["onmessage"]>>();

/**
 * A client of 2025 sends its answer to a question as a request of its own, which the service gives to a new server. This
 * hands it to the server that asked, in the same session.
 */
function relayAnswers(transport: Transport, session: string): void {
  const receive = transport.onmessage;
  const send = transport.send.bind(transport);
  const place = (id: unknown) => `${session} ${id}`;
  transport.send = (message, options) => {
    if (isJSONRPCRequest(message) && receive) asking.set(place(message.id), receive);
    return send(message, options);
  };
  transport.onmessage = (message, extra) => {
    const asker = isJSONRPCResponse(message) ? asking.get(place(message.id)) : receive;
    if (isJSONRPCResponse(message)) asking.delete(place(message.id));
    asker?.(message, extra);
  };
}
