import { env } from "@/lib/env";
import { unseal } from "@/lib/seal";
import { askerOf } from "./ask";
import { type Ask, type Provider, ProviderFailure } from "./provider";
import { providers } from "./providers";
import { sealSubject } from "./pull";

/** How long a provider may take while a user waits, ms. */
const waitMs = 20_000;

/** The providers that are asked, and are no buckets. */
type AskedProvider = {
  [Id in keyof typeof providers]: (typeof providers)[Id] extends Provider ? Id : never;
}[keyof typeof providers];

/**
 * Asks a provider with an account's key while a user waits, at most 20 seconds.
 * @param account an account with its sealed key
 * @throws ProviderRefusal; ProviderFailure, also where this service asks no providers; SealError
 */
export async function askNow<T>(
  {
    provider,
    workspace_id,
    id,
    sealed,
  }: { provider: AskedProvider; workspace_id: string; id: string; sealed: string },
  run: (ask: Ask) => Promise<T>,
): Promise<T> {
  if (env().PROVIDER_URLS.isOff)
    throw new ProviderFailure("This service asks no providers: PROVIDER_URLS is off.");
  const { secret: key } = unseal(sealed, sealSubject(workspace_id, id));
  const ends = new AbortController();
  const ask = askerOf(provider, providers[provider], { key, signal: ends.signal });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ProviderFailure("It did not answer in time.")), waitMs);
  });
  return Promise.race([run(ask), late]).finally(() => {
    clearTimeout(timer);
    ends.abort();
  });
}
