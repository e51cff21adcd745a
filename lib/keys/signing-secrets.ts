import { callAsService } from "@/lib/db/transaction";
import type { KeyLookup } from "./api-key";

/**
 * Stores the secret with which a gateway signs webhooks for an API key, and replaces an earlier one; null removes it. It is stored in
 * clear text in the private schema, because a signature cannot be verified with a hash. Only `findSigningSecret` reads it.
 */
export async function storeSigningSecret(
  keyId: string,
  gateway: string,
  secret: string | null,
): Promise<void> {
  await callAsService("private.keep_signing_secret", keyId, gateway, secret);
}

/** The secret with which a gateway signs for a key, and the lookup of the key for the guard; null if none is stored. */
export async function findSigningSecret(
  keyId: string,
  gateway: string,
): Promise<{ secret: string; lookup: KeyLookup } | null> {
  const found = await callAsService<{ secret: string; hash: string } | null>(
    "private.find_signing_secret",
    keyId,
    gateway,
  );
  return found && { secret: found.secret, lookup: { by: "hash", value: found.hash } };
}
