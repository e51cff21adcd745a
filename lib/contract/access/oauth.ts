import { z } from "zod";

const url = z.url();

/** A metadata address may have the query of its resource (RFC 9728, 3.1). The document does not depend on it. */
export const metadataQuery = z.record(z.string(), z.string());

/**
 * Authorization server metadata: RFC 8414, with additions of RFC 9207, RFC 9728 and the client ID metadata document
 * draft.
 */
export const authorizationServerMetadata = z
  .object({
    issuer: url,
    authorization_endpoint: url,
    token_endpoint: url,
    registration_endpoint: url,
    revocation_endpoint: url,
    scopes_supported: z.array(z.string()),
    response_types_supported: z.array(z.string()),
    response_modes_supported: z.array(z.string()),
    grant_types_supported: z.array(z.string()),
    token_endpoint_auth_methods_supported: z.array(z.string()),
    revocation_endpoint_auth_methods_supported: z.array(z.string()),
    code_challenge_methods_supported: z.array(z.string()),
    authorization_response_iss_parameter_supported: z.boolean(),
    client_id_metadata_document_supported: z.boolean(),
    protected_resources: z.array(url),
    service_documentation: url,
  })
  .meta({ id: "AuthorizationServerMetadata" });

/** Protected resource metadata: RFC 9728. */
export const protectedResourceMetadata = z
  .object({
    resource: url,
    resource_name: z.string(),
    authorization_servers: z.array(url),
    scopes_supported: z.array(z.string()),
    bearer_methods_supported: z.array(z.string()),
    resource_documentation: url,
  })
  .meta({ id: "ProtectedResourceMetadata" });

const metadataText = (max: number) => z.string().max(max);

/** A client's metadata: from its registration (RFC 7591), or from the document at its id. */
export const clientMetadata = z.object({
  redirect_uris: z
    .array(metadataText(2048))
    .min(1, "must name at least one address")
    .max(10, "must name at most 10 addresses"),
  client_name: metadataText(1000).nullish(),
  client_uri: metadataText(2048).nullish(),
  grant_types: z.array(z.string()).max(20).nullish(),
  response_types: z.array(z.string()).max(20).nullish(),
  token_endpoint_auth_method: metadataText(100).nullish(),
});
export type ClientMetadata = z.output<typeof clientMetadata>;
