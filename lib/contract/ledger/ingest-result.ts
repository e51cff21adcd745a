import { z } from "zod";
import { day, decimalNumber, instant, uuid } from "@/lib/contract/values/fields";

export const costStatus = z
  .enum(["client", "priced", "converted", "unpriced", "included"])
  .meta({ id: "CostStatus" });
export type CostStatus = z.infer<typeof costStatus>;

/** The result of recording a message. */
export const ingestResult = z
  .object({
    id: uuid,
    amount_usd: decimalNumber("The cost attributed, USD."),
    project_id: uuid,
    created_at: instant,
    cost_status: costStatus.meta({
      description:
        "`client`: your own figure; `priced`: quantity × rate; `converted`: from another currency; `unpriced`: no price is known yet, amount_usd is 0 until one is set; `included`: a subscription covers it, amount_usd is 0.",
    }),
    list_price_usd: decimalNumber("USD.").nullable().optional().meta({
      description:
        "What `included` usage would have cost; null where no price is known. Other messages have none.",
    }),
    rate: z
      .object({
        usd_per_unit: decimalNumber("USD for one unit of the currency."),
        rate_date: day.meta({ description: "The day that the rate is of." }),
        source: z.string().meta({ description: "Who published it." }),
        is_old: z.boolean().meta({
          description:
            "Whether the rate's day is more than a week from that of the cost, because no nearer rate is known.",
        }),
      })
      .optional()
      .meta({ description: "The exchange rate, only where `cost_status` is `converted`." }),
    due_periods: z
      .array(
        z.object({
          id: uuid.meta({ description: "The id of the period's own message." }),
          starts_on: day,
          amount_usd: decimalNumber("The charge of the period, USD."),
        }),
      )
      .optional()
      .meta({
        description:
          "The further periods of a recurring subscription that had begun already and were recorded with it. `amount_usd` is the first period's; the key's monthly limit counts them all.",
      }),
    adjusts: instant.optional().meta({
      description:
        "When the cost occurred, only where that is in a closed month: the cost is booked at `created_at`, as an adjustment of that month.",
    }),
    over_limit: z
      .object({
        limit_usd: decimalNumber("USD in a UTC month."),
        spent_usd: decimalNumber("Recorded with the key this month, with this message, USD."),
      })
      .optional()
      .meta({
        description:
          "Only past the monthly limit of a key that records what is past it (`on_limit` is `record`).",
      }),
    reservation: z
      .object({
        id: uuid,
        state: z.enum(["settled", "settled_before", "released", "expired", "unknown"]),
        held_usd: decimalNumber("What it held, USD.").optional(),
        over_usd: decimalNumber("What the message cost more than that, USD.").optional(),
      })
      .optional()
      .meta({
        description:
          "What became of the reservation that the message named. Only `settled` used it; otherwise the message was decided like one that names none.",
      }),
    dry_run: z.literal(true).optional(),
  })
  .meta({ id: "IngestResult" });
export type IngestResult = z.output<typeof ingestResult>;

/** The verdict of a message that was recorded, in a request with many. */
export const recordedMessage = ingestResult
  .extend({ index: z.int(), status: z.literal(201), replayed: z.boolean() })
  .meta({ id: "RecordedMessage" });

/**
 * One verdict per message, in order: the result with status 201, or the error that the message would have received alone.
 */
export const bulkResult = z
  .object({
    recorded: z.int().meta({ description: "Items with status 201, replays included." }),
    refused: z.int(),
    results: z.array(
      z.union([
        recordedMessage,
        z.looseObject({ index: z.int(), status: z.int(), error: z.string(), error_description: z.string() }),
      ]),
    ),
  })
  .meta({ id: "BulkResult" });
