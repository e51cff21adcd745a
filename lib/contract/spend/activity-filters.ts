import { z } from "zod";
import { maxNameLength } from "@/lib/contract/ledger/attribution";
import { month } from "@/lib/contract/ledger/closed-months";
import { costStatus } from "@/lib/contract/ledger/ingest-result";
import { serviceTiers } from "@/lib/contract/ledger/message";
import { text } from "@/lib/contract/values/fields";
import { checkRange, environment, ledgerFilters, orNone } from "./ledger-query";

/** A bound for amounts in USD, as exact text. Voids have negative amounts. */
const amountLimit = (description: string) =>
  z
    .string()
    .regex(/^-?\d{1,15}(\.\d{1,18})?$/, "must be an amount in USD, such as 12.50")
    .optional()
    .meta({ description: `${description} USD; of the whole entry where only some of its lines match.` });

/** The filters of activity and of its export, as query parameters. */
export const activityFilters = {
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
  tier: z.enum(serviceTiers).optional().meta({
    description: "The service tier of usage; `standard` also where none was recorded.",
  }),
  standing: z.literal("true").optional().meta({
    description:
      "`true`: without voided messages, their voids, and adjustments of closed months. Default: with them.",
  }),
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
export function checkFilters(query: Filtered, context: z.RefinementCtx): void {
  checkRange(query, context);
  const { min_amount: min, max_amount: max } = query;
  if (min === undefined || max === undefined || inAttos(min) <= inAttos(max)) return;
  context.addIssue({ code: "custom", path: ["max_amount"], message: "must not be below min_amount" });
}

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
