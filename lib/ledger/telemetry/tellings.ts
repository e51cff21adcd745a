import { createHash } from "node:crypto";
import { callAsService } from "@/lib/db/transaction";
import type { Owner } from "./running-totals";

/** How an emitter reports model calls: one by one, or as sums. */
export type ClaimKind = "calls" | "sums";

/** For how long a unit that this process has taken is not asked for again; a claim lasts a day. */
const rememberedMs = 10 * 60_000;
const maxRemembered = 10_000;
const remembered = new Map<string, number>();

/**
 * Takes units (sessions, services) for one telling of their calls. The telling that comes first holds a unit for as long as
 * it goes on coming, and a day more; all processes agree. A key's units are its own: it takes none from another key.
 * @returns the units that the other telling holds
 */
export async function claimTellings(
  owner: Owner,
  keyId: string,
  telling: ClaimKind,
  units: string[],
): Promise<Set<string>> {
  const nowMs = performance.now();
  const hashes = new Map([...new Set(units)].map((unit) => [hashOf(`${keyId} ${unit}`), unit]));
  const name = (hash: string) => `${owner.workspaceId} ${owner.environment} ${telling} ${hash}`;
  const asked = [...hashes.keys()].filter((hash) => !((remembered.get(name(hash)) ?? 0) > nowMs));
  if (asked.length === 0) return new Set();
  const held = await callAsService<string[]>(
    "private.claim_tellings",
    owner.workspaceId,
    owner.environment,
    telling,
    asked,
  );
  if (remembered.size > maxRemembered) remembered.clear();
  for (const hash of asked) if (!held.includes(hash)) remembered.set(name(hash), nowMs + rememberedMs);
  return new Set(held.map((hash) => hashes.get(hash) ?? ""));
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
