import { z } from "zod";
import { workspaceSlug } from "@/lib/contract/access/workspace";
import { costStatus } from "@/lib/contract/ledger/ingest-result";
import { source } from "@/lib/contract/ledger/message";
import { decimalNumber, instant, uuid } from "@/lib/contract/values/fields";
import { environment, messageType } from "./ledger-query";
import {
  adjustedAt,
  correctionLinks,
  emitterName,
  keyReference,
  listPrice,
  storedTags,
  userReference,
} from "./message-fields";
import { sessionTotal } from "./sessions";

export const messageParams = z.strictObject({ slug: workspaceSlug, id: uuid });

/** How an amount was computed: a price with its rate, or a currency's rate. */
const origin = z
  .looseObject({
    rate: decimalNumber("USD for one unit, or for one of the currency."),
  })
  .nullable()
  .meta({
    description:
      "The rate that was used, with its source and version (a price) or its date (a currency); null where the client gave the cost itself, or no price is known.",
  });

/** One message with all its details. */
export const messageDetail = z
  .object({
    id: uuid,
    message_type: messageType,
    label: z.string().nullable().meta({ description: "The message's own label." }),
    environment,
    source,
    created_at: instant,
    amount_usd: decimalNumber("The total cost, USD; for an allocation, the amount moved."),
    cost_status: costStatus,
    key: keyReference.nullable(),
    user: userReference.nullable(),
    provider: z.string().nullable(),
    model: z.string().nullable(),
    feature: z.string().nullable(),
    end_user: z.string().nullable().meta({
      description: "The person the usage was for. A batch has them on its lines.",
    }),
    session: z.string().nullable(),
    tags: storedTags,
    emitter: emitterName,
    unit_type: z.string().nullable(),
    quantity: decimalNumber("Units.").nullable(),
    list_price_usd: listPrice,
    given_cost_usd: decimalNumber("USD.").nullable().meta({
      description: "The cost that the emitter reported, which may differ from the cost that counts.",
    }),
    price: origin,
    currency: z.string().nullable().meta({ description: "ISO 4217, as the message gave it." }),
    original_amount: decimalNumber("In `currency`.").nullable(),
    idempotency_key: z.string().nullable(),
    batch_id: z.string().nullable(),
    category: z.string().nullable(),
    notes: z.string().nullable(),
    metadata: z.record(z.string(), z.unknown()).nullable(),
    details: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({ description: "Fields of its type, for example the plan and interval of a subscription." }),
    ...correctionLinks,
    voided_at: instant.nullable(),
    void_reason: z.string().nullable().meta({ description: "Why it was voided." }),
    correction_reason: z.string().nullable().meta({
      description: "Of a correction: why the message that it replaces was voided.",
    }),
    budgets: z.array(z.object({ id: uuid, name: z.string() })).meta({
      description: "The budgets that count it, by name.",
    }),
    alerts: z
      .array(
        z.object({
          id: uuid,
          rule: z.string(),
          subject: z.string().meta({ description: "The name of the budget or key." }),
          percent: z
            .string()
            .nullable()
            .meta({ description: "The threshold, in percent; null without one." }),
          fired_at: instant,
        }),
      )
      .meta({
        description:
          "What fired for these budgets in the same period, and for the limit of its key in the month in which it was recorded: at most 20, the latest first.",
      }),
    session_total: sessionTotal.nullable().meta({
      description:
        "What its session came to in all time, in its environment; null without a session, and for one of more than 10,000 calls.",
    }),
    may_void: z.boolean().meta({
      description: "Whether you may void and correct it. Voided messages and voids cannot be voided.",
    }),
    entries: z
      .array(
        z.object({
          part: z.int(),
          occurred_at: instant,
          adjusts: adjustedAt,
          project_slug: z.string(),
          project_name: z.string(),
          amount_usd: decimalNumber("USD."),
        }),
      )
      .meta({
        description:
          "Where and when it counts: one entry for most messages, those with lines too; two for an allocation, one a month for a yearly subscription.",
      }),
    lines: z
      .array(
        z.object({
          model: z.string().nullable(),
          feature: z.string().nullable(),
          end_user: z.string().nullable(),
          session: z.string().nullable(),
          unit_type: z.string(),
          quantity: decimalNumber("Units."),
          amount_usd: decimalNumber("USD."),
          cost_status: costStatus,
          list_price_usd: listPrice,
          price: origin,
        }),
      )
      .meta({ description: "The lines of a batch, or of a usage with lines; empty for anything else." }),
  })
  .meta({ id: "MessageDetail" });
export type MessageDetail = z.output<typeof messageDetail>;
