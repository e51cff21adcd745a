import { z } from "zod";
import { day, instant, positiveDecimal, projectSlug, text } from "@/lib/contract/values/fields";
import { session, tags, user } from "./attribution";

/** The source of a message. */
export const sources = ["api", "mcp", "manual", "import"] as const;
export const source = z.enum(sources).meta({ id: "Source" });
export type MessageSource = z.infer<typeof source>;

/** The most members that a message's metadata may have. */
const maxMetadata = 20;

/** Fields that every message may have besides its own. */
const common = {
  occurred_at: instant.optional().meta({
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
    .refine((value) => Object.keys(value).length <= maxMetadata, `must have at most ${maxMetadata} members`)
    .meta({ jsonSchema: { maxProperties: maxMetadata } })
    .optional()
    .meta({ description: "A small flat object of your own, kept with the message." }),
  tags,
};

/** The service tiers of providers that change the price of a request. */
export const serviceTiers = ["standard", "batch", "flex", "priority", "fast", "ultrafast"] as const;

/** One line of usage, alone or in a batch. */
const usageLine = {
  model: text(128, "The model as the provider names it.").optional(),
  unit_type: text(
    64,
    "What is counted, for example `input_tokens`, `output_tokens`, `cache_read_tokens`, `requests`.",
  ),
  quantity: positiveDecimal("How many units."),
  cached_quantity: positiveDecimal(
    "The part of `quantity` that the provider read from its cache, where its count of input tokens includes it.",
  ).optional(),
  request_input_tokens: positiveDecimal(
    "All input tokens of the request this usage is of. Some models cost more for long requests; without it, the base price holds.",
  ).optional(),
  service_tier: z.enum(serviceTiers).optional().meta({
    description:
      "How the provider served the request, where that changes its price: `batch`, `flex`, `priority`, `ultrafast`, or `fast` for Anthropic's fast mode; `standard` is the default. A tier for which the catalogue has no price leaves the usage unpriced.",
  }),
  estimated_cost: positiveDecimal(
    "USD. If it is given, it is the cost, rounded half-even to 18 decimals. If it is left out, the service prices the usage.",
    { orZero: true, rounded: true },
  ).optional(),
  feature: text(128, "The feature the usage served.").optional(),
  user: user.optional(),
  session: session.optional(),
};

const provider = text(64, "Who served the usage, for example `openai`.");

/** The most lines that one call of a model has. */
export const maxUsageLines = 20;

/** The fields of a usage that is one line. */
export const usageFields = z.strictObject({
  provider,
  ...usageLine,
  batch_id: text(128, "An id of your own that groups messages.").optional(),
});

/** The fields of the one line, which a usage with `lines` does not have. */
const ownLine = ["unit_type", "quantity", "cached_quantity", "estimated_cost"] as const;

/** Options of a check across fields of a usage. It always runs, so that it is reported together with problems of single fields. */
const together = (path: string, error: string) => ({ path: [path], error, when: () => true });

function isGiven(message: unknown, name: string): boolean {
  const value =
    typeof message === "object" && message !== null ? (message as Record<string, unknown>)[name] : undefined;
  return value !== undefined && value !== null;
}

const hasLineOr = (name: string) => (message: unknown) => isGiven(message, name) || isGiven(message, "lines");

/** What one call of a model used. */
export const usageMessage = ownLine
  .reduce(
    (message, name) =>
      message.refine(
        (value) => !(isGiven(value, name) && isGiven(value, "lines")),
        together(name, "cannot be set together with lines; set it on each line"),
      ),
    z
      .strictObject({
        type: z.literal("usage"),
        ...usageFields.shape,
        unit_type: usageLine.unit_type.optional(),
        quantity: usageLine.quantity.optional(),
        lines: z
          .array(
            z
              .strictObject({
                unit_type: usageLine.unit_type,
                quantity: usageLine.quantity,
                estimated_cost: usageLine.estimated_cost,
              })
              .meta({ id: "UsageLine" }),
          )
          .min(1, "must have at least 1 line")
          .max(maxUsageLines, `must have at most ${maxUsageLines} lines`)
          .optional()
          .meta({
            description:
              "What one call of a model used, a line for each kind: instead of `unit_type` and `quantity`. It is one message with one amount.",
          }),
        included: z.boolean().optional().meta({
          description:
            "`true`: a subscription covers it. It costs nothing, and its cost by the price list, or `estimated_cost`, is kept beside it.",
        }),
        ...common,
      })
      .refine(hasLineOr("unit_type"), together("unit_type", "is required unless lines is given"))
      .refine(hasLineOr("quantity"), together("quantity", "is required unless lines is given")),
  )
  .meta({ id: "UsageMessage" });

const batch = z
  .strictObject({
    type: z.literal("batch"),
    provider,
    batch_id: text(128, "The batch as the provider or you name it."),
    items: z
      .array(z.strictObject(usageLine).meta({ id: "BatchItem" }))
      .min(1, "must have at least 1 item")
      .max(1000, "must have at most 1,000 items"),
    ...common,
  })
  .meta({ id: "BatchMessage" });

/** The currency code in a request. */
export const currency = z
  .string()
  .regex(/^[A-Z]{3}$/, "must be an ISO 4217 code of three capital letters, like EUR")
  .default("USD");

export const expenseMessage = z
  .strictObject({
    type: z.literal("expense"),
    vendor: text(64, "Who was paid."),
    amount: positiveDecimal("In `currency`."),
    currency,
    category: text(64, "What kind of expense, for example `hosting`.").optional(),
    notes: text(2000, "Anything a person should know about it.").optional(),
    ...common,
  })
  .meta({ id: "ExpenseMessage" });

const subscription = z
  .strictObject({
    type: z.literal("subscription"),
    vendor: text(64, "Who is paid."),
    amount: positiveDecimal("The charge of one period, in `currency`."),
    currency,
    interval: z.enum(["month", "year"]).default("month").meta({
      description: "The period of this charge. A year's charge is spread evenly over its twelve months.",
    }),
    plan: text(128).optional(),
    seats: z.int().positive("must be 1 or more").max(1_000_000).optional(),
    starts_on: day
      .optional()
      .meta({ description: "The first day of the period; default the day of `occurred_at`." }),
    recurring: z.boolean().default(false).meta({
      description:
        "`true` books each following period by itself, once, until `ends_on` or until it is stopped. Periods that have begun already are recorded with the message, or it is refused whole; the first may be at most 24 months back, and one bulk call charges at most 1,000 past periods. Later ones are booked by the workspace and count against no key. Leave it out where you post every charge yourself.",
    }),
    ends_on: day.optional().meta({ description: "No period begins after this day. Only with `recurring`." }),
    ...common,
  })
  .meta({ id: "SubscriptionMessage" });

const allocation = z
  .strictObject({
    type: z.literal("allocation"),
    from_project: projectSlug.meta({
      description: "The project that the cost is taken from; it must exist.",
    }),
    amount: positiveDecimal(
      "USD to move: no more than `from_project` has spent in that month of the workspace. This or `percent`.",
    ).optional(),
    percent: positiveDecimal(
      "Per cent of what `from_project` has spent so far this month. This or `amount`. Needs the permission `read_summaries`, too.",
    ).optional(),
    notes: text(2000).optional(),
    ...common,
  })
  .meta({
    id: "AllocationMessage",
    description:
      "Moves cost to `project` from another; the two entries sum to zero. Under `dry_run` it needs the permission `read_summaries`, too.",
  });

export const costMessage = z.discriminatedUnion("type", [
  usageMessage,
  batch,
  expenseMessage,
  subscription,
  allocation,
]);

/**
 * The idempotency key that a client chooses for a message. Clients may not use keys in the forms of telemetry, because they could
 * prevent calls that other API keys report from being recorded. The exception is the id of a provider's response: only a client that
 * saw the response knows it, and it identifies the same call.
 */
export const idempotencyKey = text(
  255,
  "Your own key for this message: the same key never records twice.",
).refine(
  (key) => !key.startsWith("otel:") || /^otel:(?:response|request):/.test(key),
  "must not begin with otel:, which telemetry uses",
);

/**
 * A cost message. Unknown fields are refused, so that a misspelt one is not silently ignored.
 */
export const ingestRequest = z
  .strictObject({
    project: projectSlug,
    source,
    idempotency_key: idempotencyKey.optional(),
    reservation_id: z.uuid().toLowerCase().optional().meta({
      description:
        "The reservation that the message settles. It may cost less than was held, or more: up to twice of it is recorded whatever the limits say by now.",
    }),
    message: costMessage,
  })
  .meta({ id: "CostMessage" });
export type IngestRequest = z.output<typeof ingestRequest>;
export type CostMessage = IngestRequest["message"];

/** The types of messages of the ledger: those that are sent, and adjustments to bills, which only a booking makes. */
export type MessageType = CostMessage["type"] | "bill_adjustment";

export const ingestQuery = z.strictObject({
  dry_run: z
    .enum(["true", "false"])
    .default("false")
    .transform((value) => value === "true")
    .meta({ description: "`true` answers what would happen and stores nothing." }),
});

/** The environment that a member records into. A key has its own. */
export const recordQuery = ingestQuery.extend({
  environment: z
    .enum(["live", "test"])
    .default("live")
    .meta({ description: "The environment of the messages." }),
});

/** The most messages in one bulk request. */
export const maxBulkMessages = 1000;

/** A bulk request. Each message is parsed separately, so that an invalid one fails alone. */
export const bulkRequest = z
  .strictObject({
    messages: z
      .array(z.unknown().meta({ jsonSchema: { $ref: "#/components/schemas/CostMessage" } }))
      .min(1, "must have at least 1 message")
      .max(maxBulkMessages, "must have at most 1,000 messages"),
  })
  .meta({ id: "BulkRequest" });
