import { env } from "@/lib/env";
import { log } from "@/lib/log";
import { canReach, fetchClientDocument, UnreadDocument } from "./client-document";
import { OAuthError } from "./oauth-error";
import { isDocumentOutage, recordDocumentOutage } from "./oauth-queries";

/**
 * Hosts on which assistants publish their documents. Callers cannot make these hosts fail, so a failure to reach them
 * tells something about our own network. A caller can choose any other host, and must not be able to change the metadata
 * of everybody by choosing one that fails.
 */
const wellKnownHosts = ["claude.ai", "chatgpt.com", "vscode.dev"];

/** How long documents are not advertised after a failure of the outside network. */
const outageSeconds = 3_600;

/** How long the result of a probe is reused, so that callers cannot cause endless probes. */
const probeMs = 60_000;

let lastProbe: { atMs: number; isCutOff: Promise<boolean> } | undefined;

/** Whether client documents are advertised (`client_id_metadata_document_supported`). Otherwise clients register. */
export async function advertisesDocuments(): Promise<boolean> {
  return env().OAUTH_CLIENT_DOCUMENTS === "on" && !(await isDocumentOutage());
}

/**
 * Fetches the document at a client_id, as parsed JSON, not validated. When this service cannot reach the outside
 * network, documents are not advertised for an hour, in all processes, and the error asks the user to try again.
 * @throws OAuthError invalid_client
 */
export async function readDocument(clientId: string): Promise<unknown> {
  if (env().OAUTH_CLIENT_DOCUMENTS === "off") {
    throw new OAuthError(
      "invalid_client",
      "This service reads no client documents (its setting OAUTH_CLIENT_DOCUMENTS is off). Try again: your program will then register.",
    );
  }
  try {
    const document = await fetchClientDocument(clientId);
    if (isWellKnown(clientId)) await recordDocumentOutage(0);
    return document;
  } catch (error) {
    if (!(error instanceof UnreadDocument) || !error.isUnreachable || !(await isCutOff(clientId)))
      throw error;
    await recordDocumentOutage(outageSeconds);
    log.warn(
      { client_id: clientId },
      "Client documents cannot be fetched from here and are not advertised for an hour. OAUTH_CLIENT_DOCUMENTS=off turns them off.",
    );
    throw new OAuthError(
      "invalid_client",
      "This service has no connection to the outside network, where the document at this client_id is. Try again: your program will then register.",
    );
  }
}

/** Whether our network, rather than the document's host, caused a failure. */
async function isCutOff(clientId: string): Promise<boolean> {
  if (isWellKnown(clientId)) return true;
  if (!lastProbe || performance.now() - lastProbe.atMs > probeMs) {
    lastProbe = { atMs: performance.now(), isCutOff: reachesNone() };
  }
  const found = await lastProbe.isCutOff;
  if (found) lastProbe = undefined;
  return found;
}

async function reachesNone(): Promise<boolean> {
  const reached = await Promise.all(wellKnownHosts.map((host) => canReach(host)));
  return !reached.includes(true);
}

function isWellKnown(clientId: string): boolean {
  return wellKnownHosts.includes(new URL(clientId).hostname);
}
