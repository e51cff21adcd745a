import { buildResourceMetadata, buildServerMetadata } from "@/lib/access/oauth/metadata";
import {
  authorizationServerMetadata,
  metadataQuery,
  protectedResourceMetadata,
} from "@/lib/contract/access/oauth";
import { defineRoute, endpoint } from "./define-route";
import { openCors, openPreflight } from "./open-cors";

/** The part of a request's path after the well-known name. */
function suffixOf(request: Request): string {
  const { pathname } = new URL(request.url);
  return pathname.replace(/^.*\/\.well-known\/[^/]+/, "").replace(/\/+$/, "");
}

/** The metadata of the authorization server. Several paths serve it, because clients look for it in different places. */
export const serverMetadata = {
  ...defineRoute({
    GET: endpoint({
      summary: "Metadata of the authorization server",
      description: "How a program gets an access token for the agent tools with OAuth 2.1 (RFC 8414).",
      auth: "none",
      query: metadataQuery,
      response: authorizationServerMetadata,
      errors: ["not_found"],
      run: async ({ request, headers }) => {
        Object.assign(headers, openCors);
        return buildServerMetadata(request.headers.get("host"), suffixOf(request));
      },
    }),
  }),
  OPTIONS: openPreflight,
};

/** The metadata of the agent tools' endpoint. Several paths serve it, as for `serverMetadata`. */
export const resourceMetadata = {
  ...defineRoute({
    GET: endpoint({
      summary: "Metadata of the agent tools' endpoint",
      description: "Who issues access tokens for the agent tools, and for which permissions (RFC 9728).",
      auth: "none",
      query: metadataQuery,
      response: protectedResourceMetadata,
      errors: ["not_found"],
      run: async ({ request, headers }) => {
        Object.assign(headers, openCors);
        return buildResourceMetadata(request.headers.get("host"), suffixOf(request));
      },
    }),
  }),
  OPTIONS: openPreflight,
};
