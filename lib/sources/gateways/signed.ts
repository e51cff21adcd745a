import { createHmac, timingSafeEqual } from "node:crypto";
import { signedQuery } from "@/lib/contract/sources/delivery";
import { ServiceError } from "@/lib/errors";
import { readDecodedBytes } from "@/lib/http/body";
import { parseRequest } from "@/lib/http/parse-request";
import type { KeyLookup } from "@/lib/keys/api-key";
import { findSigningSecret } from "@/lib/keys/signing-secrets";

/** The most bytes of a body whose signature is not verified yet. Helicone cuts the request and the answer to 10 KB each. */
const signedLimitBytes = 256 * 1024;

const header = "helicone-signature";

/**
 * Reads a delivery that Helicone signed: the header has the HMAC-SHA256 of the body's bytes in hex. The query has the id of the API key
 * whose signing secret is used.
 * @throws ServiceError missing_credentials, invalid_credentials (the same for an unknown key and for a wrong signature),
 *   validation_failed, payload_too_large
 */
export async function readSigned(request: Request): Promise<{ lookup: KeyLookup; bytes: Uint8Array }> {
  const { query } = await parseRequest({ query: signedQuery }, request, Promise.resolve({}));
  const signature = request.headers.get(header);
  if (signature === null)
    throw new ServiceError("missing_credentials", `Send the signature of the body in the header ${header}.`);
  if (!/^[0-9a-f]{64}$/i.test(signature)) throw invalidSignature();
  const kept = await findSigningSecret(query.key_id, "helicone");
  if (!kept) throw invalidSignature();
  const bytes = await readDecodedBytes(request, signedLimitBytes);
  const expected = createHmac("sha256", kept.secret).update(bytes).digest();
  if (!timingSafeEqual(expected, Buffer.from(signature, "hex"))) throw invalidSignature();
  return { lookup: kept.lookup, bytes };
}

function invalidSignature(): ServiceError {
  return new ServiceError(
    "invalid_credentials",
    "The signature does not match. Check key_id in the webhook's address, and whether the signing secret of that key was set (PUT /api/v1/sources/helicone/secret).",
  );
}
