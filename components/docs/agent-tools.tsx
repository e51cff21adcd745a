import { toolContracts, toolNames } from "@/lib/contract/tools";
import {
  type AgentSnippet,
  writeBridgeSnippet,
  writeLocalSnippet,
  writeRemoteSnippets,
} from "./agent-snippets";
import { CodeFigure } from "./code-figure";
import { Inline, InlineCode } from "./inline";
import { Topic } from "./topic";

/** Sections about the agent tools, in order, for the list of contents. */
export const agentTools = [
  { id: "agent-tools", label: "The tools" },
  { id: "connect-an-agent", label: "Connect an agent" },
  { id: "agent-retries", label: "Refusals and retries" },
];

/** What agents can do, and how they are connected. */
export function AgentTools({ baseUrl, mcpUrl }: { baseUrl: string; mcpUrl: string }) {
  return (
    <div className="max-w-3xl">
      <Topic id="agent-tools" title="The tools">
        <p>
          Assistants record costs and look up spend by themselves, through the Model Context Protocol: over
          HTTP at the address below, or from a program on the user’s machine. An API key is held to the same
          permissions and conditions as over REST; what is recorded has the source{" "}
          <InlineCode>mcp</InlineCode>.
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
                  <Inline text={tool.description} />
                </dd>
                <dd className="mt-1 text-muted-foreground text-xs">{parametersOf(name)}</dd>
              </div>
            );
          })}
        </dl>
      </Topic>
      <Topic id="connect-an-agent" title="Connect an agent">
        <p>
          Assistants that can sign in need the address alone: they send you here to allow what they may do,
          and you can end it at any time under Connections. For servers and CI, and for all others, give them
          an API key.
        </p>
        {writeRemoteSnippets(mcpUrl).map((snippet) => (
          <Snippet key={snippet.assistant} snippet={snippet} />
        ))}
        <p>Where an assistant can only start programs, a bridge sends the key along:</p>
        <Snippet snippet={writeBridgeSnippet(mcpUrl)} />
        <p>
          Or start Outlay’s own program, which calls the REST API. It needs Node and a checkout of this
          version; the first start takes a little longer.
        </p>
        <Snippet snippet={writeLocalSnippet(baseUrl)} />
      </Topic>
      <Topic id="agent-retries" title="Refusals and retries">
        <p>
          What a tool refuses is a result that says which permission, limit or field it was about, what is
          left, and what to do. Every request counts once against the key’s rate limit.
        </p>
        <p>
          A call that is sent again records once if it carries the same{" "}
          <InlineCode>idempotency_key</InlineCode> in its <InlineCode>_meta</InlineCode>; if it is the same
          request of the same session; or if the first one was cancelled, or its connection lost, before it
          was answered. Equal calls that were both answered are two uses, and are recorded twice.
        </p>
      </Topic>
    </div>
  );
}

function Snippet({ snippet: { assistant, where, language, code } }: { snippet: AgentSnippet }) {
  return <CodeFigure code={code} language={language} title={`${assistant}: ${where}`} />;
}

/** The parameters as one line: those that are needed first, as the schema has them. */
function parametersOf(name: (typeof toolNames)[number]): string {
  const fields = Object.entries(toolContracts[name].input.shape);
  if (fields.length === 0) return "No parameters.";
  return fields.map(([field, schema]) => (schema.isOptional() ? `${field}?` : field)).join(", ");
}
