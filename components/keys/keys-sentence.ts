import { formatNumber } from "@/components/figures/format-count";
import { formatList } from "@/components/figures/format-list";
import { formatPercent } from "@/components/figures/format-percent";
import { type KeyView, limitUsed } from "./key-view";

const soonMs = 14 * 24 * 60 * 60 * 1000;

/** The most keys that a sentence names; of more, it says how many they are. */
const maxNamed = 3;

/** Sentences that say how many keys are in use, and which have reached a limit, are close to it, or expire soon. @param now ms since 1970 */
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
