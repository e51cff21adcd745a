import { Batcher } from "@/lib/batcher";
import type { IngestRequest } from "@/lib/contract/ledger/message";
import { overloaded, ServiceError, type Verdict } from "@/lib/errors";
import { readGauge } from "@/lib/metrics";
import { mapInSlices } from "@/lib/slices";
import type { IngestCall, IngestVerdict, Submission } from "./call";
import { linesOf } from "./check";
import { withIdempotencyHeader } from "./idempotency";
import { parseMessage, parseTold, type ToldMessage } from "./parse-told";
import { writeGroup } from "./write-group";

// One group being written keeps the database busy, a second one keeps this process busy while the first commits.
const batcher = new Batcher<IngestCall, IngestVerdict>({
  write: writeGroup,
  weigh: ({ body, spans = [] }) =>
    body instanceof ServiceError ? 1 : Math.min(weigh(body) + Math.ceil(spans.length / 10), 2_000),
  maxGroupWeight: 500,
  maxInFlight: 2,
  company: { weight: 100, maxWaitMs: 50, returning: { items: 16, maxWaitMs: 10 } },
  maxQueuedWeight: 20_000,
  overflow: () => overloaded(),
});

readGauge("outlay_ingest_queued_messages", () => [{ labels: {}, value: batcher.queuedWeight }]);
readGauge("outlay_ingest_queue_age_seconds", () => [{ labels: {}, value: batcher.queueAgeMs / 1000 }]);

/** A call weighs as many messages and further items as it carries; no more than what fits into the queue beside others. */
function weigh(body: Verdict<Submission>[]): number {
  let weight = 0;
  for (const one of body) weight += one instanceof ServiceError ? 1 : linesOf(one.message);
  return Math.min(weight, 2_000);
}

/** A call before its messages were looked at. */
type Unread<Body> = Omit<IngestCall, "body"> & { body: Verdict<Body> };

/**
 * Records one message: prices it, admits it against its key's conditions, and stores it. Resolves once it is durable,
 * or with the refusal; rejects only where nobody can say (the database went away: `unavailable`).
 * @param call.idempotencyHeader the `Idempotency-Key` header, another place for the body's `idempotency_key`
 */
export function ingest(
  call: Unread<IngestRequest> & { idempotencyHeader: string | null },
): Promise<IngestVerdict> {
  const { idempotencyHeader, body, lookup, address, audiences, isAdmitted, dryRun } = call;
  const message = body instanceof ServiceError ? body : withIdempotencyHeader(body, idempotencyHeader);
  const messages = message instanceof ServiceError ? message : [message];
  return batcher.add({ lookup, address, audiences, isAdmitted, dryRun, body: messages });
}

/**
 * Records up to a thousand messages in one transaction, in order, each admitted by itself: its outcome is what it would
 * have been alone after the ones before it. Counts as one call against the key's rate.
 */
export async function ingestBulk(call: Unread<unknown[]>): Promise<IngestVerdict> {
  const { body, ...rest } = call;
  const messages = body instanceof ServiceError ? body : await mapInSlices(body, parseMessage);
  return batcher.add({ ...rest, body: messages });
}

/** What an emitter tells of a call: a message as a client would send it, and what no client says. */
export type SourcedCall = { message: ToldMessage } & Required<Pick<Submission, "telling" | "emitter">>;

/**
 * Like `ingestBulk`, for what emitters tell: each message with what makes it the same as others. The call's request was
 * admitted and counted before.
 */
export function ingestTold(
  call: Omit<Unread<never>, "body" | "isAdmitted"> & { body: SourcedCall[] },
): Promise<IngestVerdict> {
  const { body, ...rest } = call;
  const requests = parseTold(body.map(({ message }) => message));
  const submissions = body.map(({ telling, emitter }, index): Verdict<Submission> => {
    const request = requests[index] as Verdict<IngestRequest>;
    return request instanceof ServiceError ? request : { telling, emitter, ...request };
  });
  return batcher.add({ ...rest, isAdmitted: true, body: submissions });
}
