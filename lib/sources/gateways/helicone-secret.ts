import { ServiceError } from "@/lib/errors";
import type { ApiKey } from "@/lib/keys/api-key";
import { storeSigningSecret } from "@/lib/keys/signing-secrets";
import { serviceAddress } from "@/lib/service-address";

/**
 * Stores the secret with which Helicone signs webhooks for a key.
 * @returns the URL to enter in Helicone
 * @throws ServiceError permission_denied if the key is not an API key of a workspace
 */
export async function storeHeliconeSecret(key: ApiKey, secret: string): Promise<{ url: string }> {
  requireOwnKey(key);
  await storeSigningSecret(key.id, "helicone", secret);
  return addressFor(key);
}

/** Removes the secret. @throws ServiceError as `keepHeliconeSecret` */
export async function removeHeliconeSecret(key: ApiKey): Promise<{ url: string }> {
  requireOwnKey(key);
  await storeSigningSecret(key.id, "helicone", null);
  return addressFor(key);
}

/** Refuses the environment's key and members' keys, which have no stored secret by which the guard could find them. */
function requireOwnKey({ kind }: ApiKey): void {
  if (kind === "key") return;
  throw new ServiceError(
    "permission_denied",
    "A signing secret belongs to an API key of a workspace. Create one on the page Keys.",
  );
}

function addressFor({ id }: ApiKey): { url: string } {
  return { url: `${serviceAddress()}/api/v1/sources/helicone?key_id=${id}` };
}
