import type { Dollars } from "@/lib/bills/money";
import { type Ask, ProviderRefusal } from "@/lib/bills/pulls/provider";
import type { LimitKind, LimitPeriod } from "@/lib/contract/bills/limit-kinds";

/** A limit as a provider holds it. `usd`: null for none. `period`: its own word where it is no period of ours. */
export type HeldLimit = { usd: Dollars | null; period: string | null; stops: boolean };

/** What is limited: the provider's id of a project, a key and so on. `account`: the name of the provider account. */
export type LimitPlace = { kind: LimitKind; id: string; period: LimitPeriod; account: string };

/** Something that can be limited. `held`: null where the list does not say. */
export type LimitTarget = { kind: LimitKind; id: string; name: string; held: HeldLimit | null };

/** How the limits of a provider are read and written. Each function throws ProviderRefusal and ProviderFailure. */
export type Limiter = {
  /** Lists what can be limited for a period. */
  list: (ask: Ask, account: string, period: LimitPeriod) => Promise<LimitTarget[]>;
  /** Reads the name of what is limited, and its limit. @throws TargetGone */
  read: (ask: Ask, place: LimitPlace) => Promise<HeldLimit & { name: string }>;
  /** Sets a limit, in place of the present one. @param usd whole cents or dollars, as `limitingProviders` says */
  write: (ask: Ask, place: LimitPlace, usd: Dollars) => Promise<void>;
  /** Removes a limit; nothing happens where there is none. */
  remove: (ask: Ask, place: LimitPlace) => Promise<void>;
};

/** The provider no longer has what is limited. */
export class TargetGone extends Error {
  override name = "TargetGone";
}

export const noLimit: HeldLimit = { usd: null, period: null, stops: false };

/** Lists of several kinds as one. A kind that the provider refuses is left out. @throws the refusal if it refuses all */
export async function listEach(lists: Promise<LimitTarget[]>[]): Promise<LimitTarget[]> {
  const settled = await Promise.allSettled(lists);
  const refused = settled.flatMap((each) => (each.status === "rejected" ? [each.reason as unknown] : []));
  const other = refused.find((reason) => !(reason instanceof ProviderRefusal));
  if (other !== undefined) throw other;
  if (refused.length === settled.length && refused.length > 0) throw refused[0];
  return settled.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
}
