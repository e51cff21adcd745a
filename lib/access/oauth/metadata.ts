import type { z } from "zod";
import type { authorizationServerMetadata, protectedResourceMetadata } from "@/lib/contract/access/oauth";
import { notFound } from "@/lib/errors";
import { issuerAt, resourceAt, toolsPath, toolsResources } from "./addresses";
import { advertisesDocuments } from "./document-support";
import { knownScopes, toolScopes } from "./scopes";

/**
 * The authorization server's metadata (RFC 8414).
 * @param host the Host header; see `issuerAt`
 * @param path what follows the well-known path: empty, or the path of the agent tools, which some clients append
 * @throws ServiceError not_found for any other path
 */
export async function buildServerMetadata(
  host: string | null,
  path: string,
): Promise<z.output<typeof authorizationServerMetadata>> {
  checkPath(host, path);
  const issuer = issuerAt(host);
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    registration_endpoint: `${issuer}/oauth/register`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    scopes_supported: [...knownScopes],
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    token_endpoint_auth_methods_supported: ["none"],
    revocation_endpoint_auth_methods_supported: ["none"],
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: await advertisesDocuments(),
    protected_resources: toolsResources(),
    service_documentation: `${issuer}/docs`,
  };
}

/**
 * The agent tools' resource metadata (RFC 9728), with their address at this host.
 * @param host the Host header; see `resourceAt`
 * @param path what follows the well-known path: the path of the agent tools, or empty
 * @throws ServiceError not_found for any other path
 */
export function buildResourceMetadata(
  host: string | null,
  path: string,
): z.output<typeof protectedResourceMetadata> {
  checkPath(host, path);
  const issuer = issuerAt(host);
  return {
    resource: resourceAt(host),
    resource_name: "Outlay",
    authorization_servers: [issuer],
    scopes_supported: [...toolScopes],
    bearer_methods_supported: ["header"],
    resource_documentation: `${issuer}/docs/agents`,
  };
}

function checkPath(host: string | null, path: string): void {
  const { pathname } = new URL(resourceAt(host));
  if (!["", toolsPath, pathname].includes(path)) throw notFound();
}
