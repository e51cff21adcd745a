import { z } from "zod";
import { costStatus } from "@/lib/contract/ledger/ingest-result";
import { source } from "@/lib/contract/ledger/message";
import { currencyFilter } from "@/lib/contract/values/conversion";
import { day, decimalNumber, instant, rowLimit, text, uuid } from "@/lib/contract/values/fields";
import { activityFilters, checkFilters } from "./activity-filters";
import { answeredPeriod, comparison, comparisonFilters, environment, messageType } from "./ledger-query";
import {
  adjustedAt,
  correctionLinks,
  emitterName,
  keyReference,
  listPrice,
  storedTags,
  userReference,
} from "./message-fields";

/** The most rows of one response. */
export const maxActivityRows = 100;
const defaultActivityRows = 25;

/** What rows are sorted by: when the cost occurred, the amount of the whole entry, or the quantity. `-`: largest first. */
export const activitySorts = ["-time", "time", "-amount", "amount", "-quantity", "quantity"] as const;
export type ActivitySort = (typeof activitySorts)[number];

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

/** A page of activity. */
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
