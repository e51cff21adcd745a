import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { callAsService } from "@/lib/db/transaction";
import { log } from "@/lib/log";

/** The last record of an emitter that was recorded. `amount` is exact text, USD. */
type Latest = { id: string; provider: string | null; model: string | null; amount: string; status: string };

/** What came in from one emitter. */
type Arrival = {
  emitter: string;
  told: number;
  recorded: number;
  repeated: number;
  refused: number;
  latest: Latest | null;
};

/**
 * Why records, or a whole request, were refused. `subject`: what distinguishes refusals of one code; `example`: names of the
 * last such record.
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

/** What came of one request of a key. */
export type Sent = { arrivals: Arrival[]; refusals: Refusal[]; kept?: Kept | undefined };

/** Counts are stored at most this often by a process, and refused records of one key at most that often. */
const storeEveryMs = 1_000;
const keepEveryMs = 5_000;

/** The most that waits to be stored: further keys are not counted, further reasons are counted together. */
const maxKeys = 2_000;
const maxReasons = 49;
const maxKept = 20;
const maxKeptRecords = 20_000;

type Waiting = { arrivals: Map<string, Arrival>; refusals: Map<string, Refusal>; kept: Kept[] };

const waiting = new Map<string, Waiting>();
/** When refused records of a key were last stored, milliseconds of this process' clock. */
const keptAt = new Map<string, number>();
let keptRecords = 0;
let isStoring = false;

/**
 * Notes what came of a request with a key, for the page Sources. Returns at once and never fails a request: what is noted is
 * summed in this process and stored about once a second, so that no row is written with every export. A process that is
 * killed loses the last second.
 */
export function noteSent(keyId: string, sent: Sent): void {
  const of: Waiting = waiting.get(keyId) ?? { arrivals: new Map(), refusals: new Map(), kept: [] };
  if (!waiting.has(keyId)) {
    if (waiting.size >= maxKeys) return;
    waiting.set(keyId, of);
  }
  for (const arrival of sent.arrivals) addArrival(of, arrival);
  for (const refusal of sent.refusals) addRefusal(of, refusal);
  if (sent.kept && sent.kept.count > 0 && keptRecords + sent.kept.count <= maxKeptRecords) {
    of.kept.push(sent.kept);
    keptRecords += sent.kept.count;
    const dropped = of.kept.length > maxKept ? of.kept.shift() : undefined;
    keptRecords -= dropped?.count ?? 0;
  }
  if (!isStoring) void storeWaiting();
}

/** Stores what is noted so far. For the end of the process, and to read one's own writes. */
export async function storeSent(): Promise<void> {
  keptAt.clear();
  await storeOnce();
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
  try {
    const noted = take(performance.now());
    if (noted.arrivals.length + noted.refusals.length + noted.exports.length > 0)
      await callAsService("private.note_sources", JSON.stringify(noted));
  } catch (error) {
    log.warn({ err: error }, "What sources sent could not be counted.");
  }
}

/** Takes what is to be stored now. Refused records of a key that stored some a moment ago go on waiting. */
function take(nowMs: number) {
  const arrivals: unknown[] = [];
  const refusals: unknown[] = [];
  const exports: unknown[] = [];
  for (const [key, of] of waiting) {
    for (const arrival of of.arrivals.values()) arrivals.push({ key, ...arrival });
    for (const { subject, ...refusal } of of.refusals.values())
      refusals.push({ key, ...refusal, reason: hashOf(nameOf({ ...refusal, subject })) });
    of.arrivals.clear();
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
  return { arrivals, refusals, exports };
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
