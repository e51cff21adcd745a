import type { Duplex } from "node:stream";
import ipaddr from "ipaddr.js";
import { log } from "@/lib/log";
import { connectOutside, internet, type OutsideNetwork } from "@/lib/outside/connect";
import { getOutside } from "@/lib/outside/get";
import { OAuthError } from "./oauth-error";

/**
 * A document that could not be read. `isUnreachable`: no connection to its host could be made, so this service's network
 * may be the cause.
 */
export class UnreadDocument extends OAuthError {
  constructor(readonly isUnreachable: boolean) {
    super(
      "invalid_client",
      "The document at this client_id could not be read. It must be JSON of at most 5 KB at a public https address, without redirects.",
    );
  }
}

const maxBytes = 5 * 1024;
const timeoutMs = 5_000;
const probeTimeoutMs = 3_000;

/** Whether a client's id is the address of a document, rather than an id that we issued. */
export function isDocumentAddress(clientId: string): boolean {
  return /^https:/i.test(clientId);
}

/**
 * Fetches a client ID metadata document. The caller chooses an address that is fetched from our network. So it must be
 * https, and all addresses of its host must be public. The connection goes to a checked address, redirects are not
 * followed, size and time are limited, and the cause of a failure is only logged.
 * @returns the document as parsed JSON, not validated
 * @throws UnreadDocument
 */
export async function fetchClientDocument(
  clientId: string,
  network: OutsideNetwork = internet,
): Promise<unknown> {
  const signal = AbortSignal.timeout(timeoutMs);
  let isUnreachable = false;
  try {
    const url = parseAddress(clientId);
    isUnreachable = true;
    const document = await getOutside(url, {
      network,
      signal,
      maxBytes,
      type: /^application\/([\w.-]+\+)?json$/,
      accept: "application/json",
      onConnected: () => {
        isUnreachable = false;
      },
    });
    return JSON.parse(document.toString("utf8"));
  } catch (error) {
    log.info({ err: error, client_id: clientId }, "A client's document was not read.");
    throw new UnreadDocument(isUnreachable);
  }
}

/** Whether an encrypted connection to a host can be made. Nothing is sent over it. */
export async function canReach(host: string, network: OutsideNetwork = internet): Promise<boolean> {
  try {
    (await connectTo(host, network, AbortSignal.timeout(probeTimeoutMs))).destroy();
    return true;
  } catch {
    return false;
  }
}

function connectTo(host: string, network: OutsideNetwork, signal: AbortSignal): Promise<Duplex> {
  return connectOutside({ host, port: 443, isEncrypted: true }, network, signal);
}

/** Parses a client_id as the draft requires: https, with a path, in canonical form, so that no two spellings are valid. */
function parseAddress(clientId: string): URL {
  const url = new URL(clientId);
  const isPlain = url.username === "" && url.password === "" && url.hash === "" && url.port === "";
  if (url.protocol !== "https:" || !isPlain || url.pathname === "/" || url.href !== clientId) {
    throw new Error("The address is not one a client's document may have.");
  }
  // An IP address is not resolved and would bypass the check of resolved addresses.
  if (ipaddr.isValid(url.hostname.replace(/^\[|\]$/g, ""))) throw new Error("The host is not a name.");
  return url;
}
