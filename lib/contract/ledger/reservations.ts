import { z } from "zod";
import { idempotencyKey, source, usageMessage } from "@/lib/contract/ledger/message";
import { decimalNumber, instant, projectSlug, uuid } from "@/lib/contract/values/fields";

/** How long a reservation may hold, in seconds. */
const longest = 3600;

/** The expected cost of a call of a model. */
export const reservationRequest = z
  .strictObject({
    project: projectSlug,
    source: source.default("api"),
    idempotency_key: idempotencyKey.optional(),
    message: usageMessage
      .refine(({ occurred_at: at }) => at === undefined, {
        path: ["occurred_at"],
        error: "cannot be set: a reservation holds from now on",
      })
      .refine(({ included }) => included !== true, {
        path: ["included"],
        error: "cannot be set: what a subscription covers costs nothing",
      })
      .meta({
        description:
          "The usage that the call would record. Give the input tokens and the most output tokens as `lines`, which the catalogue prices, or the most that the call may cost as `estimated_cost`.",
      }),
    expires_in_seconds: z
      .int()
      .min(10, "must be 10 or more")
      .max(longest, `must be at most ${longest}`)
      .default(300)
      .meta({ description: "After how many seconds it ends by itself." }),
  })
  .meta({ id: "ReservationRequest" });
export type ReservationRequest = z.output<typeof reservationRequest>;

export const reservation = z
  .object({
    id: uuid,
    state: z.enum(["held", "settled", "released", "expired"]),
    held_usd: decimalNumber("What it holds, or held, USD."),
    created_at: instant,
    expires_at: instant.meta({ description: "When it ends by itself." }),
    message_id: uuid.nullable().meta({ description: "The message that settled it." }),
    settled_usd: decimalNumber("What that message cost, USD.").nullable(),
  })
  .meta({ id: "Reservation" });
export type Reservation = z.output<typeof reservation>;

export const reservationParams = z.strictObject({ id: uuid });
