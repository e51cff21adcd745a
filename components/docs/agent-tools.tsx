import { toolContracts, toolNames } from "@/lib/contract/tools";
import { CodeFigure } from "./code-figure";
import { InlineCode, TextWithCode, Topic } from "./text";

/** The sections of the page about the agent tools, for the contents. */
export const agentTools = [
  { id: "agent-tools", label: "The tools" },
  { id: "connect-an-agent", label: "Connect an agent" },
  { id: "agent-retries", label: "Refusals and retries" },
];

/** The page about the agent tools: what they do, how to connect an agent, and how retries work. */
export function AgentTools({ baseUrl, mcpUrl }: { baseUrl: string; mcpUrl: string }) {
  return (
    <div className="max-w-3xl">
      <Topic id="agent-tools" title="The tools">
        <p>
          Assistants record costs and read spend through the Model Context Protocol: over HTTP at the address
          below, or with a program on the user’s machine. An API key has the same permissions and conditions
          as with the REST API. Recorded costs have the source <InlineCode>mcp</InlineCode>.
        </p>
        <CodeFigure code={mcpUrl} language="text" title="Agent tools" />
        <dl className="divide-y border-y">
          {toolNames.map((name) => {
            const tool = toolContracts[name];
            return (
              <div key={name} className="py-3">
                <dt className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
                  <InlineCode>{name}</InlineCode>
                  <span className="text-muted-foreground text-xs">
                    needs {tool.permission}
                    {"isRemoteOnly" in tool ? " · over HTTP only" : ""}
                  </span>
                </dt>
                <dd className="mt-1 text-sm">
                  <TextWithCode text={tool.description} />
                </dd>
                <dd className="mt-1 text-muted-foreground text-xs">{formatParameters(name)}</dd>
              </div>
            );
          })}
        </dl>
      </Topic>
      <Topic id="connect-an-agent" title="Connect an agent">
        <p>
          Assistants that can sign in need only the address. They send you here to allow what they may do, and
          you can disconnect them at any time under Connections, which also has the steps for each assistant.
        </p>
        <p>For servers, CI and other assistants, use an API key. In Claude Code:</p>
        <CodeFigure
          title="In a shell"
          language="bash"
          code={`claude mcp add --transport http outlay ${mcpUrl} \\\n  --header "Authorization: Bearer $OUTLAY_API_KEY"`}
        />
        <p>In a file of servers, as Cursor, Windsurf and most others read it:</p>
        <CodeFigure
          title="mcp.json"
          language="json"
          code={writeServer({ url: mcpUrl, headers: { Authorization: "Bearer svc_live_…" } })}
        />
        <p>
          An assistant that can only start programs starts Outlay’s own, which calls the REST API. It needs
          Node and a checkout of this version. The first start takes a little longer.
        </p>
        <CodeFigure
          title="From a checkout of Outlay"
          language="json"
          code={writeServer({
            command: "npx",
            args: ["-y", "/path/to/outlay"],
            env: { SVC_BASE_URL: baseUrl, SVC_API_KEY: "svc_live_…" },
          })}
        />
      </Topic>
      <Topic id="agent-retries" title="Refusals and retries">
        <p>
          A refused call returns a result that names the permission, limit or field, what is left of a limit,
          and what to do. Every request counts once against the key’s rate limit.
        </p>
        <p>
          A repeated call is recorded once if it has the same <InlineCode>idempotency_key</InlineCode> in its{" "}
          <InlineCode>_meta</InlineCode>, if it is the same request of the same session, or if the first call
          was cancelled or lost its connection before it was answered. Equal calls that were both answered are
          recorded twice.
        </p>
      </Topic>
    </div>
  );
}

/** A configuration file with one server of tools. */
const writeServer = (outlay: object) => JSON.stringify({ mcpServers: { outlay } }, null, 2);

/** The parameters of a tool in one line, in the order of the schema; optional ones have a question mark. */
function formatParameters(name: (typeof toolNames)[number]): string {
  const fields = Object.entries(toolContracts[name].input.shape);
  if (fields.length === 0) return "No parameters.";
  return fields.map(([field, schema]) => (schema.isOptional() ? `${field}?` : field)).join(", ");
}
