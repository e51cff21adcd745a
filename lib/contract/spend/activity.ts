import { z } from "zod";
import { workspaceSlug } from "@/lib/contract/access/workspace";
import { maxNameLength } from "@/lib/contract/ledger/attribution";
import { month } from "@/lib/contract/ledger/closed-months";
import { costStatus } from "@/lib/contract/ledger/ingest-result";
import { source } from "@/lib/contract/ledger/message";
import { currencyFilter } from "@/lib/contract/values/conversion";
import { day, decimalNumber, instant, rowLimit, text, uuid } from "@/lib/contract/values/fields";
import {
  answeredPeriod,
  checkRange,
  comparison,
  comparisonFilters,
  environment,
  ledgerFilters,
  messageType,
  orNone,
} from "./ledger-query";
import { sessionTotal } from "./sessions";

/** The most rows of one response. */
export const maxActivityRows = 100;
const defaultActivityRows = 25;

/** What rows are sorted by: when the cost occurred, the amount of the whole entry, or the quantity. `-`: largest first. */
export const activitySorts = ["-time", "time", "-amount", "amount", "-quantity", "quantity"] as const;
export type ActivitySort = (typeof activitySorts)[number];

/** A bound for amounts in USD, as exact text. Voids have negative amounts. */
const amountLimit = (description: string) =>
  z
    .string()
    .regex(/^-?\d{1,15}(\.\d{1,18})?$/, "must be an amount in USD, such as 12.50")
    .optional()
    .meta({ description: `${description} USD; of the whole entry where only some of its lines match.` });

const activityFilters = {
  ...ledgerFilters,
  environment: environment.optional().meta({ description: "Default: both." }),
  cost_status: costStatus.optional().meta({
    description:
      "How the amount was computed; `unpriced` without a price. For a message with lines, they count.",
  }),
  session: orNone(text(maxNameLength), maxNameLength, "The session, as recorded."),
  emitter: orNone(text(64), 64, "The program that reported the usage, such as `claude-code`."),
  q: text(100)
    .optional()
    .meta({ description: "Text in the label, feature, model, provider or notes; case does not matter." }),
  min_amount: amountLimit("Rows of at least this amount."),
  max_amount: amountLimit("Rows of at most this amount."),
  adjusts: z
    .union([z.literal("any"), month], { error: "must be `any` or a month, such as 2026-10" })
    .optional()
    .meta({ description: "Adjustments of closed months: `any`, or of a month, such as `2026-10`." }),
};

type Filtered = Parameters<typeof checkRange>[0] & {
  min_amount?: string | undefined;
  max_amount?: string | undefined;
};

/** An amount in units of 10^-18 USD. */
function inAttos(amount: string): bigint {
  const [whole = "", decimals = ""] = amount.split(".");
  return BigInt(whole + decimals.padEnd(18, "0"));
}

/** Refuses ranges of days and of amounts that end before they begin. */
function checkFilters(query: Filtered, context: z.RefinementCtx): void {
  checkRange(query, context);
  const { min_amount: min, max_amount: max } = query;
  if (min === undefined || max === undefined || inAttos(min) <= inAttos(max)) return;
  context.addIssue({ code: "custom", path: ["max_amount"], message: "must not be below min_amount" });
}

export const activityQuery = z
  .strictObject({
    ...activityFilters,
    ...comparisonFilters,
    ...currencyFilter,
    sort: z.enum(activitySorts).default("-time").meta({
      description:
        "The order of the rows. `amount` is the amount of the whole entry; equal rows are in the order of their time. `quantity` sorts at most 100,000 messages, and entries without a quantity come last.",
    }),
    limit: rowLimit(maxActivityRows, defaultActivityRows, "Rows at most."),
    cursor: text(500).optional().meta({
      description: "`next_cursor` of the previous answer, unchanged, with the same filters and `sort`.",
    }),
  })
  .superRefine(checkFilters);
export type ActivityQuery = z.output<typeof activityQuery>;

/** The author of a row: a key, a member or an assistant. */
const keyReference = z.object({ id: uuid, name: z.string() });
const userReference = z.object({
  id: uuid,
  name: z.string().meta({ description: "The display name, otherwise the address." }),
});

const storedTags = z
  .record(z.string(), z.string())
  .meta({ description: "The message's tags; empty for none." });
const emitterName = z.string().nullable().meta({
  description: "The program that reported it, such as `claude-code`; null for messages that clients sent.",
});
const listPrice = decimalNumber("USD.").nullable().meta({
  description:
    "The cost that included usage would have had, as far as prices are known; null for other usage.",
});

/** Links to the messages that void, correct or replace a message. */
const correctionLinks = {
  voids: uuid.nullable().meta({
    description: "Of a void: the message that it voids. Its amounts are negative.",
  }),
  voided_by: uuid.nullable().meta({ description: "Of a voided message: its void." }),
  corrects: uuid.nullable().meta({ description: "Of a correction: the voided message that it replaces." }),
  corrected_by: uuid.nullable().meta({
    description: "Of a voided message: the one that was recorded in its place, if any.",
  }),
};

const adjustedAt = instant.nullable().meta({
  description:
    "Of an adjustment: when the cost occurred, in a month that was closed by then. It is booked at `occurred_at`, when it was recorded. Null for anything else.",
});

const activityRow = z
  .object({
    id: uuid.meta({ description: "The message's id. A message with several entries has a row for each." }),
    part: z.int().meta({
      description:
        "The number of the entry within its message: 0 for most; an allocation has 0 and 1, a yearly subscription 0 to 11. A message with lines is one row, 0.",
    }),
    amount_usd: decimalNumber(
      "USD. For a message with lines, the cost of those that match the filters. Rows sum to the total that metrics answers for the same filters, with what is booked ahead.",
    ),
    message_amount_usd: decimalNumber(
      "USD of the whole entry: more than `amount_usd` where only some of its lines match.",
    ),
    message_type: messageType,
    created_at: instant.meta({ description: "When it was recorded." }),
    occurred_at: instant.meta({
      description: "When the cost occurred. By default rows are in this order, latest first.",
    }),
    project_slug: z.string(),
    project_name: z.string(),
    environment,
    feature: z
      .string()
      .nullable()
      .meta({ description: "For a message with lines, the value that all matching lines share." }),
    end_user: z.string().nullable().meta({
      description:
        "The person the usage was for: the message's `user`. For a message with lines, the value that all matching lines share.",
    }),
    session: z.string().nullable().meta({
      description: "For a message with lines, the value that all matching lines share.",
    }),
    tags: storedTags,
    emitter: emitterName,
    source,
    label: z.string().meta({ description: "The message's own label, otherwise a short description." }),
    provider: z
      .string()
      .nullable()
      .meta({ description: "The provider, or the vendor of an expense or subscription." }),
    model: z
      .string()
      .nullable()
      .meta({ description: "For a message with lines, the value that all matching lines share." }),
    unit_type: z.string().nullable(),
    quantity: decimalNumber("Units.").nullable(),
    line_count: z
      .int()
      .meta({ description: "Lines of a batch, or of a usage with lines, that match; 1 for anything else." }),
    cost_status: costStatus,
    list_price_usd: listPrice,
    key: keyReference.nullable().meta({ description: "The API key that recorded it." }),
    user: userReference.nullable().meta({ description: "The member who recorded it." }),
    ...correctionLinks,
    adjusts: adjustedAt,
    converted: z
      .object({
        currency: z.string().meta({ description: "ISO 4217." }),
        amount: decimalNumber("`amount_usd`, in the currency."),
        message_amount: decimalNumber("`message_amount_usd`, in the currency."),
        rate_date: day.meta({ description: "The day that the rate is of." }),
      })
      .meta({
        id: "ConvertedRow",
        description: "Only with `currency`: the amounts at the rate of the day on which the cost occurred.",
      })
      .optional(),
  })
  .meta({ id: "ActivityRow" });
export type ActivityRow = z.output<typeof activityRow>;

/** A page of activity (specification 4.3). */
export const activityList = z
  .object({
    ...answeredPeriod,
    compare: comparison.meta({ description: "What the period is compared with." }),
    previous: z
      .object({ from: day, to: day })
      .nullable()
      .meta({ description: "The days it is compared with, for a request of their rows; null for nothing." }),
    count: z.int().meta({ description: "Rows in this answer." }),
    activity: z.array(activityRow),
    next_cursor: z.string().nullable().meta({
      description:
        "The cursor of the next rows; null if there are none. A search through many rows may return few rows or none and still have a next cursor.",
    }),
    removed_before: day.nullable().meta({
      description:
        "On the last page: the day before which the operator has removed messages, where the period begins earlier; otherwise null. Their sums are kept: metrics, budgets and projects still count them.",
    }),
  })
  .meta({ id: "ActivityList" });
export type ActivityList = z.output<typeof activityList>;

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

export const exportQuery = z
  .strictObject({
    ...activityFilters,
    format: z.enum(["csv", "focus"]).default("csv").meta({
      description:
        "`csv`: the rows of activity, with a row for each line of a message; `focus`: the same in the columns of the FinOps FOCUS specification.",
    }),
  })
  .superRefine(checkFilters);
export type ExportQuery = z.output<typeof exportQuery>;
/** The filters of activity and export in a request body. */
export const activityFilter = z
  .strictObject(activityFilters)
  .superRefine(checkFilters)
  .meta({ id: "ActivityFilter", description: "Filters like the query parameters of activity." });
/** The filters of activity and export. */
export type ActivityFilters = z.output<typeof activityFilter>;
