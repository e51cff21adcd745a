import { z } from "zod";
import { decimalNumber, instant, positiveDecimal, projectSlug, text, uuid } from "./fields";

/** Where a message came from (specification 2.1). */
export const sources = ["api", "mcp", "manual", "import"] as const;
export const source = z.enum(sources);
export type Source = z.infer<typeof source>;

/** What every message may carry besides its own fields (design section 4). */
const common = {
  occurred_at: instant
    .optional()
    .meta({
      description: "When the cost occurred; default now, at most 5 minutes ahead, not before the year 2000.",
    }),
  label: text(200, "A short text for people.").optional(),
  metadata: z
    .record(
      text(64),
      z.union(
        [text(500), z.number(), z.boolean()],
        "must be text of at most 500 characters, a number or a boolean",
      ),
    )
    .refine((value) => Object.keys(value).length <= 20, "must have at most 20 members")
    .optional()
    .meta({ description: "A small flat object of your own, kept with the message." }),
};

const usage = z
  .strictObject({
    type: z.literal("usage"),
    provider: text(64, "Who served the usage, for example `openai`."),
    model: text(128, "The model as the provider names it.").optional(),
    unit_type: text(
      64,
      "What is counted, for example `input_tokens`, `output_tokens`, `cache_read_tokens`, `requests`.",
    ),
    quantity: positiveDecimal("How many units."),
    cached_quantity: positiveDecimal(
      "The part of `quantity` that the provider read from its cache, where its count of input tokens includes it.",
    ).optional(),
    estimated_cost: positiveDecimal("USD. Given, it is the cost; left out, the service prices the usage.", {
      orZero: true,
    }).optional(),
    feature: text(128, "The feature the usage served.").optional(),
    batch_id: text(128, "An id of your own that groups messages.").optional(),
    ...common,
  })
  .meta({ id: "UsageMessage" });

const expense = z
  .strictObject({
    type: z.literal("expense"),
    vendor: text(64, "Who was paid."),
    amount: positiveDecimal("In `currency`."),
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/, "must be an ISO 4217 code of three capital letters, like EUR")
      .default("USD"),
    category: text(64).optional(),
    notes: text(2000).optional(),
    ...common,
  })
  .meta({ id: "ExpenseMessage" });

export const costMessage = z.discriminatedUnion("type", [usage, expense]);

/** The cost message of specification 2.1. Unknown fields are refused, so that a misspelt one is not lost in silence. */
export const ingestRequest = z
  .strictObject({
    project: projectSlug,
    source,
    idempotency_key: text(255, "Your own key for this message: the same key never records twice.").optional(),
    message: costMessage,
  })
  .meta({ id: "CostMessage" });
export type IngestRequest = z.output<typeof ingestRequest>;
export type CostMessage = IngestRequest["message"];
export type MessageType = CostMessage["type"];

export const costStatus = z.enum(["client", "priced", "converted", "unpriced"]);
export type CostStatus = z.infer<typeof costStatus>;

/** The ingest result of specification 2.2. */
export const ingestResult = z
  .object({
    id: uuid,
    amount_usd: decimalNumber("The cost attributed, USD."),
    project_id: uuid,
    created_at: instant,
    cost_status: costStatus.meta({
      description:
        "`client`: your own figure; `priced`: quantity × rate; `converted`: from another currency; `unpriced`: no price is known yet, amount_usd is 0 until one is set.",
    }),
    dry_run: z.literal(true).optional(),
  })
  .meta({ id: "IngestResult" });
export type IngestResult = z.output<typeof ingestResult>;

export const ingestQuery = z.strictObject({
  dry_run: z
    .enum(["true", "false"])
    .default("false")
    .transform((value) => value === "true")
    .meta({ description: "`true` answers what would happen and stores nothing." }),
});
