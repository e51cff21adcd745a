import { randomBytes } from "node:crypto";
import { addressQuota, hourMs, throttle } from "@/lib/access/throttle";
import { type ClientMetadata, clientMetadata } from "@/lib/contract/access/oauth";
import { parsePart } from "@/lib/contract/values/parse-part";
import { ServiceError } from "@/lib/errors";
import { isDocumentAddress } from "./client-document";
import { readDocument } from "./document-support";
import { OAuthError } from "./oauth-error";
import { type Client, insertClient, loadClient, saveClient } from "./oauth-queries";
import { isPossibleRedirect } from "./redirects";

/**
 * Registrations in an hour from one address (IPv6: one /64). There is no limit over all addresses, which one caller
 * could exhaust.
 */
const perAddress = 20;

/**
 * The most registered clients that never asked a user for consent. Beyond it the oldest are deleted, so that nobody can
 * fill the table.
 */
const atMostUnused = 5_000;

/** The answer to a registration (RFC 7591 section 3.2.1). */
export type Registration = {
  client_id: string;
  client_id_issued_at: number;
  client_name: string;
  client_uri?: string;
  redirect_uris: string[];
  grant_types: string[];
  response_types: string[];
  token_endpoint_auth_method: "none";
};

/**
 * Registers a client (RFC 7591). Every client becomes a public client, whatever it requested, and the response says so.
 * The scope of a registration does not limit later requests.
 * @param address the caller's, where known
 * @throws OAuthError invalid_redirect_uri or invalid_client_metadata
 * @throws ServiceError rate_limited
 */
export async function registerClient(body: unknown, address: string | undefined): Promise<Registration> {
  const metadata = parseMetadata(body);
  await admitRegistration(address);
  const client: Client = {
    id: `svc_client_${randomBytes(16).toString("base64url")}`,
    kind: "registered",
    ...toClientFields(metadata),
  };
  await insertClient(client, atMostUnused);
  return {
    client_id: client.id,
    client_id_issued_at: Math.floor(Date.now() / 1000),
    client_name: client.name,
    ...(client.uri && { client_uri: client.uri }),
    redirect_uris: client.redirect_uris,
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
}

/** @throws ServiceError rate_limited, whose message says how long to wait and how to proceed without registering */
async function admitRegistration(address: string | undefined): Promise<void> {
  try {
    await throttle("client registrations", addressQuota(address, perAddress, hourMs));
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "rate_limited") throw error;
    const message = `${error.message} The limit is for your network address alone. A program that registered before can use its client_id again.`;
    throw new ServiceError(error.code, message, error.fields, error.headers);
  }
}

/**
 * Finds a client by its id: a registered client, or one whose id is the address of its document, which is fetched anew.
 * @throws OAuthError invalid_client if there is none
 */
export async function findClient(id: string): Promise<Client> {
  if (isDocumentAddress(id)) return readClientDocument(id);
  const client = await loadClient(id);
  if (client?.kind === "registered") return client;
  throw new OAuthError(
    "invalid_client",
    "This client is not registered here. Remove the connection from your program and connect it again.",
  );
}

async function readClientDocument(id: string): Promise<Client> {
  const document = await readDocument(id);
  const claimed = typeof document === "object" && document !== null && "client_id" in document;
  if (!claimed || document.client_id !== id) {
    throw new OAuthError("invalid_client", "The document at this client_id is about another client.");
  }
  const metadata = parseMetadata(document);
  const method = metadata.token_endpoint_auth_method ?? "none";
  if (method !== "none") {
    throw new OAuthError(
      "invalid_client",
      `The document of this client names the method ${method} for the token endpoint; this service supports only none.`,
    );
  }
  const client: Client = { id, kind: "document", ...toClientFields(metadata) };
  await saveClient(client);
  return client;
}

/** @throws OAuthError whose description names the invalid member */
function parseMetadata(body: unknown): ClientMetadata {
  const read = parsePart(clientMetadata, body, "");
  if (!read.ok) {
    const [issue] = read.issues;
    const isRedirect = issue?.path.startsWith("redirect_uris");
    throw new OAuthError(
      isRedirect ? "invalid_redirect_uri" : "invalid_client_metadata",
      issue ? `${issue.path || "The body"}: ${issue.message}` : "The client could not be read.",
    );
  }
  const metadata = read.value;
  const bad = metadata.redirect_uris.find((redirect) => !isPossibleRedirect(redirect));
  if (bad !== undefined) {
    throw new OAuthError(
      "invalid_redirect_uri",
      "redirect_uris: must be https addresses, or http on localhost, 127.0.0.1 or [::1], without user and fragment",
    );
  }
  const { grant_types: grants, response_types: responses } = metadata;
  if (grants && !grants.includes("authorization_code"))
    throw new OAuthError("invalid_client_metadata", "grant_types: must include authorization_code");
  if (responses && !responses.includes("code"))
    throw new OAuthError("invalid_client_metadata", "response_types: must include code");
  return metadata;
}

/** A client's text as stored and shown, without characters that could make it look like something else. */
function toClientFields({
  client_name,
  client_uri,
  redirect_uris,
}: ClientMetadata): Omit<Client, "id" | "kind"> {
  const name = (client_name ?? "")
    .toWellFormed()
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "")
    .replace(/\s+/g, " ")
    .trim();
  const isLink = client_uri && URL.canParse(client_uri) && /^https?:$/.test(new URL(client_uri).protocol);
  return {
    name: [...name].slice(0, 80).join("") || "A program without a name",
    uri: isLink ? client_uri : null,
    redirect_uris,
  };
}
