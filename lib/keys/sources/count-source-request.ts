import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { SourceOutcome } from "@/lib/contract/sources/sources";
import { callAsService } from "@/lib/db/transaction";
import { ServiceError } from "@/lib/errors";
import { log, reportFailure } from "@/lib/log";

/** The last record of an emitter that was recorded. `amount` is exact text, USD. */
type Latest = { id: string; provider: string | null; model: string | null; amount: string; status: string };

/** The counts of records that one emitter has sent. */
type Arrival = {
  emitter: string;
  told: number;
  recorded: number;
  repeated: number;
  refused: number;
  latest: Latest | null;
};

/**
 * A reason for which records, or whole requests, were refused. `subject`: distinguishes reasons with the same code. `example`: the names
 * of the last refused record.
 */
type Refusal = {
  code: string;
  of_record: boolean;
  subject: string;
  description: string;
  count: number;
  example: Record<string, string> | null;
};

/** Refused records that can be sent again. `pack` writes them as JSON; it is called later, or never. */
type Kept = { address: string | undefined; count: number; pack: () => unknown[] };

/** The number of an emitter's records with an outcome; see `SourceOutcome`. */
type Accounted = { emitter: string; outcome: SourceOutcome; by: string; count: number };

/** The outcome of one request of a key. */
export type SourceCounts = {
  arrivals: Arrival[];
  refusals: Refusal[];
  account: Accounted[];
  kept?: Kept | undefined;
};

/** The least time between two writes of counts by a process, and of refused records of one key. */
const storeEveryMs = 1_000;
const keepEveryMs = 5_000;

/** Limits of what waits to be stored. Further keys are not counted; further reasons are counted together. */
const maxKeys = 2_000;
const maxReasons = 49;
const maxKept = 20;
const maxKeptRecords = { ofKey: 1_000, inAll: 5_000 };

type Waiting = {
  arrivals: Map<string, Arrival>;
  refusals: Map<string, Refusal>;
  account: Map<string, Accounted>;
  kept: Kept[];
};

const waiting = new Map<string, Waiting>();
/** When refused records of a key were last stored, in milliseconds of `performance.now()`. */
const keptAt = new Map<string, number>();
let keptRecords = 0;
let isStoring = false;

/**
 * Counts the outcome of a request with a key, for the page Sources. Returns immediately and never fails a request: counts are summed in
 * this process and stored about once a second, so that not every export writes a row. A process that is killed loses the last second.
 */
export function countSourceRequest(keyId: string, sent: SourceCounts): void {
  const of: Waiting = waiting.get(keyId) ?? {
    arrivals: new Map(),
    refusals: new Map(),
    account: new Map(),
    kept: [],
  };
  if (!waiting.has(keyId)) {
    if (waiting.size >= maxKeys) return;
    waiting.set(keyId, of);
  }
  for (const arrival of sent.arrivals) addArrival(of, arrival);
  for (const refusal of sent.refusals) addRefusal(of, refusal);
  for (const row of sent.account) addAccounted(of, row);
  if (sent.kept) keep(of, sent.kept);
  if (!isStoring) void storeWaiting();
}

/** Stores all waiting counts and records now. Call it before the process ends, and before reading them. */
export async function storeSourceCounts(): Promise<void> {
  keptAt.clear();
  await storeOnce();
}

/** Adds refused records to those that wait to be stored. Drops the oldest ones of the key if there are too many. */
function keep({ kept }: Waiting, added: Kept): void {
  if (added.count === 0 || keptRecords + added.count > maxKeptRecords.inAll) return;
  kept.push(added);
  keptRecords += added.count;
  let ofKey = kept.reduce((sum, { count }) => sum + count, 0);
  while (kept.length > maxKept || ofKey > maxKeptRecords.ofKey) {
    const dropped = kept.shift()?.count ?? 0;
    ofKey -= dropped;
    keptRecords -= dropped;
  }
}

function addArrival({ arrivals }: Waiting, { emitter, latest, ...counts }: Arrival): void {
  const known = arrivals.get(emitter);
  if (!known) {
    arrivals.set(emitter, { emitter, latest, ...counts });
    return;
  }
  known.told += counts.told;
  known.recorded += counts.recorded;
  known.repeated += counts.repeated;
  known.refused += counts.refused;
  known.latest = latest ?? known.latest;
}

function addRefusal({ refusals }: Waiting, refusal: Refusal): void {
  const isNew = !refusals.has(nameOf(refusal));
  const counted =
    isNew && refusals.size >= maxReasons
      ? { ...refusal, subject: "others", description: "Others of this kind.", example: null }
      : refusal;
  const name = nameOf(counted);
  const known = refusals.get(name);
  if (!known) {
    refusals.set(name, { ...counted });
    return;
  }
  known.count += counted.count;
  known.description = counted.description;
  known.example = counted.example ?? known.example;
}

function addAccounted({ account }: Waiting, row: Accounted): void {
  const name = `${row.emitter}\n${row.outcome}\n${row.by}`;
  const known = account.get(name);
  if (known) known.count += row.count;
  else account.set(name, { ...row });
}

function nameOf({ code, of_record: ofRecord, subject }: Refusal): string {
  return `${code} ${ofRecord} ${subject}`;
}

async function storeWaiting(): Promise<void> {
  isStoring = true;
  while (waiting.size > 0) {
    await storeOnce();
    await pause(storeEveryMs, undefined, { ref: false });
  }
  isStoring = false;
}

async function storeOnce(): Promise<void> {
  const counts = take(performance.now());
  if (Object.values(counts).every((list) => list.length === 0)) return;
  try {
    await store(counts);
  } catch (error) {
    if (error instanceof ServiceError) {
      log.debug(
        { err: error },
        "What sources sent could not be counted, because the database cannot be reached.",
      );
      return;
    }
    // The data of one key must not prevent the counts of others.
    reportFailure(error, "What sources sent could not be counted; counting it key by key.");
    for (const part of byKey(counts))
      await store(part).catch((failure) =>
        reportFailure(failure, "What a source sent could not be counted."),
      );
  }
}

function store(counts: CountsToStore): Promise<unknown> {
  return callAsService("private.note_sources", JSON.stringify(counts));
}

/** The data of one statement. Each entry has the id of its key. */
type CountsToStore = { arrivals: OfKey[]; refusals: OfKey[]; account: OfKey[]; exports: OfKey[] };
type OfKey = { key: string } & Record<string, unknown>;

function byKey({ arrivals, refusals, account, exports }: CountsToStore): CountsToStore[] {
  const keys = new Set([...arrivals, ...refusals, ...account, ...exports].map(({ key }) => key));
  return [...keys].map((key) => {
    const own = (entries: OfKey[]) => entries.filter((entry) => entry.key === key);
    return {
      arrivals: own(arrivals),
      refusals: own(refusals),
      account: own(account),
      exports: own(exports),
    };
  });
}

/** Takes the data to store now. Refused records of a key wait if some were stored less than `keepEveryMs` ago. */
function take(nowMs: number): CountsToStore {
  const arrivals: OfKey[] = [];
  const refusals: OfKey[] = [];
  const account: OfKey[] = [];
  const exports: OfKey[] = [];
  for (const [key, of] of waiting) {
    for (const arrival of of.arrivals.values()) arrivals.push({ key, ...arrival });
    for (const { subject, ...refusal } of of.refusals.values())
      refusals.push({ key, ...refusal, reason: hashOf(nameOf({ ...refusal, subject })) });
    for (const row of of.account.values()) account.push({ key, ...row });
    of.arrivals.clear();
    of.account.clear();
    of.refusals.clear();
    const isDue = nowMs - (keptAt.get(key) ?? Number.NEGATIVE_INFINITY) >= keepEveryMs;
    if (of.kept.length > 0 && !isDue) continue;
    for (const { address = null, count, pack } of of.kept) {
      keptRecords -= count;
      const records = pack();
      if (records.length > 0) exports.push({ key, address, records });
    }
    if (of.kept.length > 0) keptAt.set(key, nowMs);
    waiting.delete(key);
  }
  for (const [key, at] of keptAt) if (nowMs - at >= keepEveryMs) keptAt.delete(key);
  return { arrivals, refusals, account, exports };
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
