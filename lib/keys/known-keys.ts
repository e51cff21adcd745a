import type { LoadedKey } from "./admission-queries";
import type { KeyLookup } from "./api-key";

/** What this process remembers about a key that it admitted. */
type KnownKey = {
  id: string;
  /** Whether the key had a rate limit or a monthly limit, so that its admission needs a lock. */
  isLimited: boolean;
};

const maxRemembered = 10_000;

const remembered = new Map<string, KnownKey>();

/**
 * Remembers an admitted key by its lookup. It only chooses how the next call is loaded and never admits one, because other processes may
 * change the key. A secret or an access token never belongs to another key later.
 */
export function rememberKey({ value }: KeyLookup, { key }: LoadedKey): void {
  const isLimited = key.rateLimitRpm !== null || key.monthlyLimit !== null;
  const known = remembered.get(value);
  if (known?.isLimited === isLimited) return;
  remembered.set(value, { id: key.id, isLimited });
  if (remembered.size <= maxRemembered) return;
  for (const oldest of remembered.keys()) {
    remembered.delete(oldest);
    break;
  }
}

/** The remembered key with this lookup; undefined if this process has not admitted it lately. */
export function knownKey({ value }: KeyLookup): KnownKey | undefined {
  return remembered.get(value);
}
