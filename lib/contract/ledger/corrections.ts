import { z } from "zod";
import { decimalNumber, instant, projectSlug, text, uuid } from "@/lib/contract/values/fields";
import { costStatus } from "./ingest-result";
import { costMessage } from "./message";

const reason = text(500, "Why, for those who read the ledger and the audit log later.");
const idempotencyKey = text(
  255,
  "Your own key for this request: a retry with the same key is answered as the first request was.",
).optional();

export const voidRequest = z
  .strictObject({ reason, idempotency_key: idempotencyKey })
  .meta({ id: "VoidRequest" });
export type VoidRequest = z.output<typeof voidRequest>;

export const correctRequest = z
  .strictObject({
    reason,
    project: projectSlug.meta({ description: "The project of the corrected cost; it must exist." }),
    message: costMessage.meta({
      description:
        "The whole message as it should have been. Without `occurred_at`, it occurred when the original did. An allocation cannot be corrected: void it, and record another.",
    }),
    idempotency_key: idempotencyKey,
  })
  .meta({ id: "CorrectRequest" });
export type CorrectRequest = z.output<typeof correctRequest>;

/** How a message was voided, and what was recorded in its place. */
export const messageVoid = z
  .object({
    id: uuid.meta({ description: "The void: a message whose entries are those of the voided one, negated." }),
    voids: uuid.meta({ description: "The voided message." }),
    reason: z.string(),
    created_at: instant.meta({ description: "When it was voided." }),
    correction: z
      .object({
        id: uuid,
        amount_usd: decimalNumber("USD."),
        cost_status: costStatus,
      })
      .nullable()
      .meta({ description: "The message that replaces it; null if it was voided without a replacement." }),
  })
  .meta({ id: "MessageVoid" });
export type MessageVoid = z.output<typeof messageVoid>;
