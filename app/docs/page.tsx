import type { Metadata } from "next";
import { connection } from "next/server";
import { apiDocument } from "@/app/api/openapi.json/document";
import { AgentTools, agentTools } from "@/components/docs/agent-tools";
import { DocsNav } from "@/components/docs/docs-nav";
import { EndpointSection } from "@/components/docs/endpoint";
import { Introduction, introduction } from "@/components/docs/introduction";
import { type ErrorRow, readReference } from "@/components/docs/reference";
import { SiteHeader } from "@/components/shell/site-header";
import { serviceAddress } from "@/lib/address";
import { statusOf } from "@/lib/errors";
import { errorReference } from "@/lib/http/error-reference";
import { mcpAddress } from "@/lib/mcp/addresses";

export const metadata: Metadata = {
  title: "API reference",
  description: "Every endpoint of Outlay: what to send, what comes back, and what can go wrong.",
};

/** Errors that no endpoint has to itself: they come before one is found. */
const general: ErrorRow[] = [
  {
    status: statusOf.method_not_allowed,
    code: "method_not_allowed",
    when: errorReference.method_not_allowed.when,
  },
];

/** The reference of the API, from the same document that tools read. */
export default async function DocsPage() {
  // The examples hold this instance's address, which is a setting of the process, not of the build.
  await connection();
  const baseUrl = serviceAddress();
  const { groups, errors } = readReference(await apiDocument(), baseUrl);
  const contents = [
    { name: "Introduction", links: introduction },
    { name: "Agents", links: agentTools },
    ...groups.map(({ name, endpoints }) => ({
      name,
      links: endpoints.map(({ id, summary, method }) => ({ id, label: summary, method })),
    })),
  ];
  return (
    <>
      <SiteHeader place="API reference" />
      <div className="mx-auto max-w-[1440px] lg:flex lg:px-6">
        <DocsNav groups={contents} />
        <main className="min-w-0 flex-1 px-4 pt-8 pb-24 sm:px-6 lg:pl-10 lg:pr-0">
          <Introduction
            baseUrl={baseUrl}
            errors={[...errors, ...general].sort((a, b) => a.status - b.status)}
          />
          <section aria-label="Agents">
            <h2 className="pb-3 font-medium text-muted-foreground text-sm">Agents</h2>
            <AgentTools baseUrl={baseUrl} mcpUrl={mcpAddress()} />
          </section>
          {groups.map(({ name, id, endpoints }) => (
            <section key={name} id={id} aria-label={name}>
              <h2 className="pb-3 font-medium text-muted-foreground text-sm">{name}</h2>
              {endpoints.map((endpoint) => (
                <EndpointSection key={endpoint.id} endpoint={endpoint} />
              ))}
            </section>
          ))}
        </main>
      </div>
    </>
  );
}
