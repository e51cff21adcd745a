import type { Registrar } from "@/lib/bills/telemetry/registrar";
import { registrars } from "@/lib/bills/telemetry/registrars";
import { noteStanding } from "@/lib/bills/telemetry/telemetry-queries";
import type { TelemetryProvider } from "@/lib/contract/bills/provider-telemetry";
import { deadlines } from "@/lib/db/deadlines";
import { newId } from "@/lib/db/new-id";
import { asService } from "@/lib/db/transaction";
import { toText } from "@/lib/decimal";
import { reportFailure } from "@/lib/log";
import { retryDelayMs } from "@/lib/outside/backoff";
import type { OutsideNetwork } from "@/lib/outside/connect";
import { SealError, seal, unseal } from "@/lib/seal";
import { addDays } from "@/lib/spend/period";
import {
  beginPulledDays,
  type ClaimedAccount,
  type EndedPull,
  finishPull,
  resealKey,
  storePulledDays,
} from "./account-queries";
import { askerOf } from "./ask";
import { openBucket } from "./bucket";
import { type BucketFolder, readBucketFolder } from "./bucket-address";
import { type ChosenDays, chooseDays, type HeldDay, type PulledDay, usualDays } from "./choose-days";
import {
  type Ask,
  type BucketProvider,
  type DayRange,
  type Provider,
  ProviderFailure,
  ProviderRefusal,
} from "./provider";
import { providers } from "./providers";
import { pullExports } from "./pull-exports";
import { wholeDays } from "./whole-days";

/** How long a claim lasts, seconds. Each stored page renews it. */
export const leaseSeconds = 300;

const daySeconds = 86_400;

/** Another process has the pull now, or the account was removed. */
class LeaseLost extends Error {
  override name = "LeaseLost";
}

/** What a key is sealed for: the row that it belongs to. */
export const sealSubject = (workspaceId: string, id: string): string => `provider_key ${workspaceId} ${id}`;

/**
 * Pulls an account: reads the provider's costs from where the last pull ended, and those that the provider may have changed since, and
 * stores what is new page by page. A pull that ends early goes on there the next time. Never throws: how it ended is recorded.
 * @param options.signal ends it between two pages
 */
export async function pullAccount(
  claimed: ClaimedAccount,
  options: { signal: AbortSignal; network?: OutsideNetwork },
): Promise<void> {
  try {
    const ended = await attempt(claimed, options).catch((error: unknown) =>
      endOf(error, claimed, options.signal),
    );
    if (ended) await finishPull(claimed, ended);
  } catch (error) {
    reportFailure(error, "How a pull of bills ended was not recorded; it will be repeated.");
  }
}

async function attempt(
  claimed: ClaimedAccount,
  options: { signal: AbortSignal; network?: OutsideNetwork },
): Promise<EndedPull> {
  const provider: Provider | BucketProvider | undefined =
    providers[claimed.provider as keyof typeof providers];
  if (!provider) throw new ProviderFailure("This version of the service does not know the provider.");
  const access = { key: await openKey(claimed), ...options };
  const range = rangeOf(claimed, provider);
  const ask = "store" in provider ? undefined : askerOf(claimed.provider, provider, access);
  const pages = () =>
    "store" in provider
      ? pullExports(openBucket(folderOf(claimed, provider), access), range)
      : provider.pull(ask as Ask, range, claimed.account);
  let held: HeldDay | undefined;
  let hasData = false;
  if (ask) await readTelemetry(ask, claimed);
  if (range.from < range.until)
    for await (const days of wholeDays(pages(), range)) {
      const chosen = await storeDays(claimed, provider, days, hasData);
      hasData ||= days.some(({ facts }) => facts.length > 0);
      held ??= chosen.held[0];
    }
  return {
    outcome: "done",
    has_data: hasData,
    pulled_through: addDays(range.until, -1),
    held: held ? { day: held.day, amount_usd: toText(held.amount), usual_usd: toText(held.usual) } : null,
    ...(ask && !("store" in provider) && (await countSeats(provider, ask, claimed))),
    retry_in_seconds: daySeconds,
  };
}

/** @throws ProviderFailure where the address names no bucket */
function folderOf({ folder }: ClaimedAccount, { store }: BucketProvider): BucketFolder {
  const found = readBucketFolder(folder ?? "", store);
  if (!found) throw new ProviderFailure("The address of its folder names no bucket.");
  return found;
}

/** The seats of an account; undefined if counting them fails, which does not fail the pull of costs. */
async function countSeats(
  provider: Provider,
  ask: Ask,
  { today, account }: ClaimedAccount,
): Promise<Pick<EndedPull, "seats">> {
  try {
    const seats = await provider.countSeats?.(ask, today, account);
    if (!seats) return {};
    const { count, unused, usd } = seats;
    return { seats: { count, unused_count: unused, usd: usd && toText(usd) } };
  } catch (error) {
    if (error instanceof ProviderRefusal || error instanceof ProviderFailure) return {};
    throw error;
  }
}

/** Reads how the telemetry is that the provider sends here. If that fails, what was read last stays, and costs are pulled. */
async function readTelemetry(ask: Ask, { workspace_id, provider, telemetry }: ClaimedAccount): Promise<void> {
  const registrar: Registrar | undefined = registrars[provider as TelemetryProvider];
  if (!telemetry || !registrar) return;
  try {
    const standing = await registrar.read(ask, telemetry.destinations);
    await noteStanding({ workspace_id, id: telemetry.id, ...standing });
  } catch (error) {
    if (!(error instanceof ProviderRefusal || error instanceof ProviderFailure)) throw error;
  }
}

/** Opens the key, and seals it again where the key that seals has changed. @throws SealError */
async function openKey(claimed: ClaimedAccount): Promise<string> {
  const subject = sealSubject(claimed.workspace_id, claimed.id);
  const { secret, isOld } = unseal(claimed.sealed, subject);
  if (isOld) await resealKey(claimed, seal(secret, subject));
  return secret;
}

/** The days to read: whole ones, so not today. */
function rangeOf(
  claimed: ClaimedAccount,
  provider: Pick<Provider, "changingDays" | "farthestDays">,
): DayRange {
  const { today, since, next_day: next, pulled_through: through, held_day: held } = claimed;
  const following = through === null ? since : addDays(through, 1);
  const changing = addDays(today, -provider.changingDays);
  const wanted = next ?? [following, changing, held ?? changing].sort()[0] ?? since;
  const farthest = provider.farthestDays === undefined ? since : addDays(today, -provider.farthestDays);
  return { from: [wanted, since, farthest].sort().at(-1) ?? since, until: today };
}

/** @throws LeaseLost */
function storeDays(
  claimed: ClaimedAccount,
  provider: Pick<Provider, "changingDays">,
  days: PulledDay[],
  hasData: boolean,
): Promise<ChosenDays> {
  const [first, last] = [days[0], days.at(-1)];
  if (!first || !last) return Promise.resolve({ changed: [], held: [] });
  const following = addDays(last.day, 1);
  return asService(async (client) => {
    const range = { from: addDays(first.day, -usualDays), until: following };
    const known = await beginPulledDays(client, claimed, leaseSeconds, range);
    if (known === null) throw new LeaseLost();
    const chosen = chooseDays(days, known, {
      ...{ provider: claimed.provider, account: claimed.account },
      changesFrom: addDays(claimed.today, -provider.changingDays),
      hasData: claimed.has_data || hasData,
      acceptsJump: claimed.accepts_jump,
    });
    await storePulledDays(client, claimed, chosen.changed.map(toStored), following);
    return chosen;
  }, deadlines.job);
}

const toStored = ({ day, amount, sha256, facts }: ChosenDays["changed"][number]) => ({
  ...{ id: newId(), day, sha256, amount_usd: toText(amount) },
  facts: facts.map(({ key, user, amount: billed, list, quantity, ...coordinates }) => ({
    ...{ ...coordinates, key_name: key, end_user: user, amount_usd: toText(billed) },
    ...{ list_usd: list && toText(list), quantity: quantity && toText(quantity) },
  })),
});

/** How a pull ended that threw. @returns null where there is nothing to record */
function endOf(error: unknown, { attempts }: ClaimedAccount, signal: AbortSignal): EndedPull | null {
  if (error instanceof LeaseLost) return null;
  if (signal.aborted) return { outcome: "interrupted", retry_in_seconds: 0 };
  if (error instanceof ProviderRefusal)
    return { outcome: "refused", problem: error.message, retry_in_seconds: daySeconds };
  const isKnown = error instanceof ProviderFailure || error instanceof SealError;
  if (!isKnown) reportFailure(error, "A pull of bills failed; it will be tried again.");
  const waitMs = Math.max(
    retryDelayMs(attempts + 1),
    (error instanceof ProviderFailure && error.retryAfterMs) || 0,
  );
  return {
    outcome: "failed",
    problem: isKnown ? error.message : "The service could not store what it read. It tries again.",
    retry_in_seconds: Math.ceil(waitMs / 1000),
  };
}
