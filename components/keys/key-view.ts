import type { z } from "zod";
import { exactText } from "@/components/figures/amount";
import { formatNumber } from "@/components/figures/format-count";
import { formatList } from "@/components/figures/format-list";
import { formatPercent } from "@/components/figures/format-percent";
import type { apiKey } from "@/lib/contract/access/api-keys";
import type { keyLimits } from "@/lib/contract/spend/limits";

type ApiKey = z.output<typeof apiKey>;

/** An API key with its amounts as exact text, so that a server component can pass it to a client component. */
export type KeyView = Omit<ApiKey, "monthly_limit" | "raise" | "spent"> & {
  /** The usual limit, USD. */
  monthly_limit: string | null;
  /** The limit that applies instead through a UTC day, USD. */
  raise: { amount: string; until: string } | null;
  /** USD in the current UTC month. */
  spent: string;
  /** The budgets that can count what the key records; absent if they are not shown. */
  budgets?: KeyBudget[];
};

/** A budget that covers a key. Amounts are exact text, USD. */
export type KeyBudget = Pick<CoveringBudget, "id" | "name" | "blocks" | "is_used_up" | "resets_at"> & {
  limit: string;
  remaining: string;
};

type CoveringBudget = z.output<typeof keyLimits>["budgets"][number];

/** Maps budgets of an answer to views. Only those whose figures the caller may read. */
export function toKeyBudgets(budgets: readonly CoveringBudget[]): KeyBudget[] {
  return budgets.flatMap(
    ({ id, name, blocks, is_used_up, resets_at, limit_usd: limit, remaining_usd: remaining }) =>
      limit === null || remaining === null
        ? []
        : {
            id,
            name,
            blocks,
            is_used_up,
            resets_at,
            limit: exactText(limit),
            remaining: exactText(remaining),
          },
  );
}

/** The addresses at which programs reach this service. */
export type ServiceAddresses = {
  /** Base URL of the API, without a trailing slash. */
  api: string;
  /** URL of the agent tools' endpoint. */
  mcp: string;
};

/** Id of the element that gets the focus when a key leaves its list. */
export const keysSentenceId = "keys-sentence";

/** Maps a key of an answer, the service's or the API's, to a KeyView. */
export function toKeyView(key: ApiKey): KeyView {
  return {
    ...key,
    monthly_limit: key.monthly_limit === null ? null : exactText(key.monthly_limit),
    raise: key.raise && { ...key.raise, amount: exactText(key.raise.amount) },
    spent: exactText(key.spent),
  };
}

/** The limit of a key that applies now, USD; null without one. */
export const presentLimit = ({ raise, monthly_limit: usual }: KeyView): string | null =>
  raise?.amount ?? usual;

/** The fraction of its monthly limit that a key has used; null without a limit. A double, only for display. */
export function limitUsed(key: KeyView): number | null {
  const [spent, limit] = [key.spent, presentLimit(key)];
  if (limit === null) return null;
  // A limit of 0 is used up from the start.
  return Number(limit) === 0 ? 1 : Number(spent) / Number(limit);
}

const soonMs = 14 * 24 * 60 * 60 * 1000;

/** The most keys that a sentence names. More are only counted. */
const maxNamed = 3;

/** Says how many keys are in use, and which have reached a limit, are close to it, or expire soon. @param now ms since 1970 */
export function summarizeKeys(keys: KeyView[], now: number): string {
  const active = keys.filter(({ status }) => status === "active");
  const used = active.map((key) => ({ name: key.name, fraction: limitUsed(key) ?? 0 }));
  const full = used.filter(({ fraction }) => fraction >= 1);
  const close = used.filter(({ fraction }) => fraction >= 0.8 && fraction < 1);
  const ending = active.filter(({ expires_at: end }) => end && Date.parse(end) - now < soonMs);
  const list = (some: { name: string }[]) =>
    some.length > maxNamed ? `${formatNumber(some.length)} keys` : formatList(some.map(({ name }) => name));
  const closeNames = close.map(({ name, fraction }) => ({ name: `${name} (${formatPercent(fraction)})` }));
  return [
    active.length === 1
      ? "One key is in use."
      : `${active.length === 0 ? "No" : formatNumber(active.length)} keys are in use.`,
    full.length > 0 && `${list(full)} ${full.length === 1 ? "has" : "have"} reached the monthly limit.`,
    close.length > 0 && `${list(closeNames)} ${close.length === 1 ? "is" : "are"} close to the limit.`,
    ending.length > 0 && `${list(ending)} ${ending.length === 1 ? "expires" : "expire"} within two weeks.`,
  ]
    .filter(Boolean)
    .join(" ");
}
