import { text } from "@/lib/contract/fields";
import type { IngestRequest } from "@/lib/contract/message";
import { ServiceError, validationFailed } from "@/lib/errors";
import { Batcher } from "./batcher";
import type { IngestCall, IngestVerdict } from "./call";
import { checkMessage } from "./compose";
import { writeGroup } from "./write-group";

// One group being written keeps the database busy, a second one keeps this process busy while the first commits.
const batcher = new Batcher<IngestCall, IngestVerdict>({
  write: writeGroup,
  maxGroup: 256,
  maxInFlight: 2,
  maxQueued: 10_000,
  overflow: () =>
    new ServiceError(
      "unavailable",
      "The service is taking in all it can. Try again in a second.",
      {},
      { "Retry-After": "1" },
    ),
});

/**
 * Records one message: prices it, admits it against its key's conditions, and stores it. Resolves once it is durable,
 * or with the refusal; rejects only where nobody can say (the database went away: `unavailable`).
 */
export function ingest(
  call: Omit<IngestCall, "body"> & { body: IngestRequest | ServiceError; idempotencyHeader: string | null },
): Promise<IngestVerdict> {
  const { idempotencyHeader, ...rest } = call;
  return batcher.add({ ...rest, body: prepare(call.body, idempotencyHeader) });
}

/** The body with the header's idempotency key, or what is wrong with them. */
function prepare(
  body: IngestRequest | ServiceError,
  idempotencyHeader: string | null,
): IngestRequest | ServiceError {
  if (body instanceof ServiceError) return body;
  const problem = checkMessage(body.message, Date.now());
  if (problem) return problem;
  if (idempotencyHeader === null) return body;
  const key = text(255).safeParse(idempotencyHeader);
  if (!key.success) {
    return validationFailed([
      { path: "Idempotency-Key", message: key.error.issues[0]?.message ?? "is not valid" },
    ]);
  }
  if (body.idempotency_key !== undefined && body.idempotency_key !== key.data) {
    return validationFailed([
      { path: "idempotency_key", message: "differs from the Idempotency-Key header; send one of them" },
    ]);
  }
  return { ...body, idempotency_key: key.data };
}
