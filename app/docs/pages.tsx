import type { ReactNode } from "react";
import { AgentTools, agentTools } from "@/components/docs/agent-tools";
import type { NavGroup, NavPage } from "@/components/docs/docs-nav";
import { EndpointSection } from "@/components/docs/endpoint";
import { Errors, Introduction } from "@/components/docs/introduction";
import { type ErrorRow, type Reference, readReference } from "@/components/docs/reference";
import type { OpenApiDocument } from "@/lib/contract/openapi";
import { statusOf } from "@/lib/errors";
import { errorReference } from "@/lib/http/error-reference";

/** A page of the reference, before it is HTML. */
export type DocsPage = NavPage & { description: string; content: ReactNode };

/** All of the reference: its pages, as the contents group them, and what they were read from. */
export type DocsSite = {
  groups: (NavGroup & { pages: DocsPage[] })[];
  reference: Reference;
  errors: ErrorRow[];
};

/**
 * Where the service answers, as the files say it: what `npm start` gives. In the browser it is the address of the page
 * itself (`browser/addresses.ts`), since the files are made before anybody knows it.
 */
export const defaultAddress = "http://127.0.0.1:3000";

/** The agent tools' endpoint, likewise. */
export const defaultToolsAddress = `${defaultAddress}/api/mcp`;

/** Errors that no endpoint has to itself: they come before one is found. */
const general: ErrorRow[] = [
  {
    status: statusOf.method_not_allowed,
    code: "method_not_allowed",
    when: errorReference.method_not_allowed.when,
  },
];

const introduction = [
  { id: "overview", label: "Overview" },
  { id: "credentials", label: "Credentials" },
  { id: "money", label: "Money" },
  { id: "idempotency", label: "Idempotency" },
  { id: "rate-limits", label: "Rate limits" },
  { id: "request-ids", label: "Request ids" },
  { id: "more", label: "Agents and errors" },
  { id: "endpoints", label: "All endpoints" },
];

/** The pages of the reference: a guide, and a page for each resource of the document. */
export function readSite(document: OpenApiDocument): DocsSite {
  const reference = readReference(document, defaultAddress);
  const errors = [...reference.errors, ...general].sort((a, b) => a.status - b.status);
  const guide: DocsPage[] = [
    {
      path: "/docs",
      title: "Introduction",
      description: "How to call Outlay: credentials, money, idempotency, rate limits, and every endpoint.",
      sections: introduction,
      content: <Introduction baseUrl={defaultAddress} resources={reference.groups} />,
    },
    {
      path: "/docs/agents",
      title: "Agents",
      description: "What assistants can do with Outlay’s tools, and how each of them is connected.",
      sections: agentTools,
      content: <AgentTools baseUrl={defaultAddress} mcpUrl={defaultToolsAddress} />,
    },
    {
      path: "/docs/errors",
      title: "Errors",
      description: "Every error code, its status, and when it comes.",
      sections: [],
      content: <Errors errors={errors} />,
    },
  ];
  const resources = reference.groups.map(
    ({ name, path, endpoints }): DocsPage => ({
      path,
      title: name,
      description: `${name}: ${endpoints.map(({ summary }) => summary.toLowerCase()).join(", ")}.`,
      sections: endpoints.map(({ id, summary }) => ({ id, label: summary })),
      content: endpoints.map((endpoint) => <EndpointSection key={endpoint.id} endpoint={endpoint} />),
    }),
  );
  return {
    groups: [
      { name: "Guide", pages: guide },
      { name: "Resources", pages: resources },
    ],
    reference,
    errors,
  };
}
