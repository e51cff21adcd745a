import { Batcher } from "@/lib/batcher";
import type { IngestRequest } from "@/lib/contract/ledger/message";
import { overloaded, ServiceError, type Verdict } from "@/lib/errors";
import { readGauge } from "@/lib/metrics";
import { mapInSlices } from "@/lib/slices";
import type { IngestCall, IngestVerdict, Submission } from "./call";
import { linesOf } from "./check";
import { withIdempotencyHeader } from "./idempotency";
import { parseMessage, parseReported, type ReportedMessage } from "./parse-reported";
import { writeGroup } from "./write-group";

/** When a second group is written, of messages as of reservations. */
export const secondGroup = { weight: 100, maxWaitMs: 50, returning: { items: 16, maxWaitMs: 10 } };

// Two groups at once: the database writes one while this process decides the other.
const batcher = new Batcher<IngestCall, IngestVerdict>({
  write: writeGroup,
  weigh: ({ body, spans = [] }) =>
    body instanceof ServiceError ? 1 : Math.min(weigh(body) + Math.ceil(spans.length / 10), 2_000),
  maxGroupWeight: 500,
  maxInFlight: 2,
  secondGroup,
  maxQueuedWeight: 20_000,
  overflow: () => overloaded(),
});

readGauge("outlay_ingest_queued_messages", () => [{ labels: {}, value: batcher.queuedWeight }]);
readGauge("outlay_ingest_queue_age_seconds", () => [{ labels: {}, value: batcher.queueAgeMs / 1000 }]);

/** The weight of a call: the number of its lines, at most 2,000 so that it fits into the queue beside others. */
function weigh(body: Verdict<Submission>[]): number {
  let weight = 0;
  for (const one of body) weight += one instanceof ServiceError ? 1 : linesOf(one.message);
  return Math.min(weight, 2_000);
}

/** A call whose messages are not validated yet. */
type Unread<Body> = Omit<IngestCall, "body"> & { body: Verdict<Body> };

/**
 * Records one message: prices it, checks its key's conditions, and stores it. Resolves with the refusal, or once the message is
 * committed. Rejects only if the outcome is unknown, such as `unavailable` when the database went away.
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
 * Records up to a thousand messages in one transaction, in order. Each is decided separately, as if it were sent alone after the ones
 * before it. Counts as one call against the key's rate.
 */
export async function ingestBulk(call: Unread<unknown[]>): Promise<IngestVerdict> {
  const { body, ...rest } = call;
  const messages = body instanceof ServiceError ? body : await mapInSlices(body, parseMessage);
  return batcher.add({ ...rest, body: messages });
}

/** A call of a model as an emitter reports it: the message, its keys and the emitter. */
export type SourcedCall = { message: ReportedMessage } & Required<Pick<Submission, "callKeys" | "emitter">>;

/**
 * Like `ingestBulk`, for calls that emitters report. The request must have been admitted and counted already.
 */
export function ingestReported(
  call: Omit<Unread<never>, "body" | "isAdmitted"> & { body: SourcedCall[] },
): Promise<IngestVerdict> {
  const { body, ...rest } = call;
  const requests = parseReported(body.map(({ message }) => message));
  const submissions = body.map(({ callKeys, emitter }, index): Verdict<Submission> => {
    const request = requests[index] as Verdict<IngestRequest>;
    return request instanceof ServiceError ? request : { callKeys, emitter, ...request };
  });
  return batcher.add({ ...rest, isAdmitted: true, body: submissions });
}
