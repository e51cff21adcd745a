import type { ReactNode } from "react";
import { AgentTools, agentTools } from "@/components/docs/agent-tools";
import type { NavGroup, NavPage } from "@/components/docs/docs-nav";
import { EndpointSection } from "@/components/docs/endpoint";
import { Errors } from "@/components/docs/errors";
import { Introduction } from "@/components/docs/introduction";
import { type ErrorRow, type Reference, toReference } from "@/components/docs/reference";
import type { OpenApiDocument } from "@/lib/contract/openapi";
import { statusOf } from "@/lib/errors";
import { errorReference, exampleError } from "@/lib/http/error-reference";
import { defaultAddress, toolsPath } from "./addresses";

/** A page of the reference, before it is rendered to HTML. */
export type DocsPage = NavPage & { description: string; content: ReactNode };

/** The whole reference: its pages in the groups of the contents, and the data that they show. */
export type DocsSite = {
  groups: (NavGroup & { pages: DocsPage[] })[];
  reference: Reference;
  errors: ErrorRow[];
};

/** An error that is answered before an endpoint is found, so that no endpoint lists it. */
const code = "method_not_allowed";
const general: ErrorRow = { status: statusOf[code], code, when: errorReference[code].when };

const introduction = [
  { id: "overview", label: "Overview" },
  { id: "credentials", label: "Credentials" },
  { id: "money", label: "Money" },
  { id: "idempotency", label: "Idempotency" },
  { id: "rate-limits", label: "Rate limits" },
  { id: "request-ids", label: "Request ids" },
  { id: "endpoints", label: "All endpoints" },
];

/** Builds the pages of the reference: the guide, and a page for each resource of the document. */
export function buildSite(document: OpenApiDocument): DocsSite {
  const reference = toReference(document, defaultAddress);
  const byCode = new Map([...reference.errors, general].map((row) => [row.code, row]));
  const errors = [...byCode.values()].sort((a, b) => a.status - b.status);
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
      description: "What assistants can do with Outlay’s tools, and how to connect each of them.",
      sections: agentTools,
      content: <AgentTools baseUrl={defaultAddress} mcpUrl={defaultAddress + toolsPath} />,
    },
    {
      path: "/docs/errors",
      title: "Errors",
      description: "Every error code with its status and its cause.",
      sections: [],
      content: <Errors errors={errors} example={exampleError("validation_failed")} />,
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
