import { z } from "zod";
import { workspaceSlug } from "@/lib/contract/access/workspace";
import { tagName } from "@/lib/contract/ledger/attribution";
import { costStatus } from "@/lib/contract/ledger/ingest-result";
import { maxTags } from "@/lib/contract/ledger/limits";
import { decimalNumber, instant, projectSlug, text, uuid } from "@/lib/contract/values/fields";
import { sourcePrograms } from "./source-programs";

/** Parts of attributes' names that may hold what people wrote, or secrets. */
const content =
  /(^|[._-])(prompts?|completions?|messages?|content|inputs?|outputs?|instructions?|arguments|headers?|authorization|cookies?|passwords?|secrets?|tokens?|credentials?|body|text|stacktrace|statement)([._-]|$)/i;

/**
 * Whether an attribute may hold what people wrote, or a secret, by its name. No setting makes such an attribute be read:
 * prompts are neither stored nor logged.
 */
export function mayHoldContent(attribute: string): boolean {
  return content.test(attribute);
}

const program = z.enum(sourcePrograms).meta({ id: "SourceProgram" });

const attribute = text(128)
  .regex(/^[\x21-\x7e]+$/, "must be the name of an attribute: printable ASCII without spaces")
  .refine(
    (name) => !mayHoldContent(name),
    "may hold prompts, answers or secrets, which Outlay does not read; choose another attribute",
  );

const tag = z
  .strictObject({
    name: tagName.meta({ description: "The tag's name." }),
    attribute: attribute.meta({ description: "The attribute whose value it has." }),
  })
  .meta({ id: "SourceTag" });

const tags = z
  .array(tag)
  .max(maxTags, `must have at most ${maxTags} tags`)
  .superRefine((entries, context) => {
    for (const [index, { name }] of entries.entries())
      if (entries.findIndex((entry) => entry.name === name) < index)
        context.addIssue({ code: "custom", path: [index, "name"], message: "is used already" });
  });

const described = {
  program: "The program that it was set up for, for the page Sources.",
  project_attribute:
    "The attribute that names the project, before those that Outlay knows. A value becomes a slug: `Checkout API` is `checkout-api`, and of a repository's address the repository's name is taken. The key's conditions hold for it.",
  default_project: "The project of records that name none.",
  feature_attribute: "The attribute that names the feature, before those that Outlay knows.",
  default_feature: "The feature of records that name none.",
  tags: `Attributes that become tags, at most ${maxTags}.`,
  trusted_cost:
    "Whether the cost that the program reports is recorded. False: the cost is computed by the price list. Null: the costs that OpenRouter and LiteLLM report are recorded; for other programs the cost is computed.",
  subscription_covered:
    "Whether a subscription covers it (Claude Pro and Max, seats of Copilot): it is recorded as `included`, at no cost.",
};

/** A merge patch, as the rest of a key's settings. */
export const sourceSettingsChange = z
  .strictObject({
    program: program.nullable().optional().meta({ description: described.program }),
    project_attribute: attribute.nullable().optional().meta({ description: described.project_attribute }),
    default_project: projectSlug.nullable().optional().meta({ description: described.default_project }),
    feature_attribute: attribute.nullable().optional().meta({ description: described.feature_attribute }),
    default_feature: text(128).nullable().optional().meta({ description: described.default_feature }),
    tags: tags.nullable().optional().meta({ description: described.tags }),
    trusted_cost: z.boolean().nullable().optional().meta({ description: described.trusted_cost }),
    subscription_covered: z
      .boolean()
      .nullable()
      .optional()
      .meta({ description: described.subscription_covered }),
  })
  .meta({
    description:
      "How records that programs send with the key (OpenTelemetry, gateways) are attributed. An omitted field stays, null clears it; null for the whole object clears all fields.",
  });

export const sourceSettings = z
  .object({
    program: program.nullable().meta({ description: described.program }),
    project_attribute: z.string().nullable().meta({ description: described.project_attribute }),
    default_project: z.string().nullable().meta({ description: described.default_project }),
    feature_attribute: z.string().nullable().meta({ description: described.feature_attribute }),
    default_feature: z.string().nullable().meta({ description: described.default_feature }),
    tags: z
      .array(z.object({ name: z.string(), attribute: z.string() }))
      .meta({ description: described.tags }),
    trusted_cost: z.boolean().nullable().meta({ description: described.trusted_cost }),
    subscription_covered: z.boolean().meta({ description: described.subscription_covered }),
  })
  .meta({ id: "SourceSettings" });
export type SourceSettings = z.output<typeof sourceSettings>;

/** The last record of an emitter. */
const latestRecord = z.object({
  id: uuid.meta({ description: "Of its message." }),
  at: instant.meta({ description: "When it was recorded." }),
  provider: z.string().nullable(),
  model: z.string().nullable(),
  amount_usd: decimalNumber("USD."),
  cost_status: costStatus,
});

/** What one emitter has sent. */
const arrival = z
  .object({
    emitter: z.string().meta({ description: "The program or library: `claude-code`, `ai-sdk`, `litellm`." }),
    told: z.int().meta({ description: "Calls of models that it reported." }),
    recorded: z.int(),
    repeated: z.int().meta({ description: "Reported before, and counted once." }),
    refused: z.int(),
    first_at: instant,
    last_at: instant,
    latest: latestRecord.nullable(),
  })
  .meta({ id: "SourceArrival" });

/** What became of a record of usage. */
export const sourceOutcomes = [
  "recorded",
  "replayed",
  "told_again",
  "in_sum",
  "repeats",
  "without_counts",
  "not_understood",
  "refused",
] as const;
export type SourceOutcome = (typeof sourceOutcomes)[number];

const accountRow = z
  .object({
    hour: instant.meta({ description: "The beginning of the hour in which it came." }),
    emitter: z.string().meta({ description: "`unknown` for records that could not be read." }),
    outcome: z.enum(sourceOutcomes).meta({
      description:
        "`recorded`; `replayed`: the same record was sent before; `told_again`: another record of the same call is recorded; `in_sum`: a running total that adds nothing to an earlier one; `repeats`: left out, because it repeats what other records say; `without_counts`: a call without counts of tokens; `not_understood`: it has counts under names that no known emitter uses, or as a gauge or a summary; `refused`.",
    }),
    by: z.string().nullable().meta({
      description:
        "Of `told_again`, the emitter that reported the call before, if it is known. Of `repeats`, the rule: `contains_calls` (a span around calls), `other_signal` (the emitter is counted by another signal), `told_one_by_one` (a sum of calls that are reported). Of `in_sum`, `earlier_total`. Of `refused`, the code.",
    }),
    count: z.int(),
  })
  .meta({ id: "SourceAccountRow" });

/** The totals of a source, as the list has them. */
const sourceSummary = {
  id: uuid.meta({ description: "The id of the API key." }),
  name: z.string(),
  status: z.enum(["active", "expired", "revoked"]),
  environment: z.enum(["live", "test"]),
  program: program.nullable(),
  emitters: z.array(z.string()).meta({ description: "The programs that were recognized, the latest first." }),
  told: z.int(),
  recorded: z.int(),
  refused: z.int().meta({ description: "Records and whole requests that were refused." }),
  last_received_at: instant.nullable(),
  is_silent: z.boolean().meta({ description: "Whether it has sent records, but none in the last 24 hours." }),
  summary: z.string().meta({ description: "What the key may do, in words." }),
};

const listedSource = z.object(sourceSummary).meta({ id: "SourceSummary" });
export type SourceSummary = z.output<typeof listedSource>;

export const sourceList = z
  .object({
    sources: z
      .array(listedSource)
      .meta({ description: "Keys that were set up as sources or sent something, the latest first." }),
    can_create: z.boolean().meta({ description: "Whether you may add one." }),
  })
  .meta({ id: "SourceList" });

const refusal = z
  .object({
    code: z.string().meta({ description: "`project_not_allowed`, for example." }),
    description: z.string(),
    count: z.int(),
    first_at: instant,
    last_at: instant,
    example: z.record(z.string(), z.string()).nullable().meta({
      description:
        "Names in the last such record: emitter, project, feature, provider, model. Empty for records that could not be read, null for whole requests.",
    }),
  })
  .meta({ id: "SourceRefusal" });

export const source = z
  .object({
    ...sourceSummary,
    settings: sourceSettings.nullable(),
    can_edit: z.boolean().meta({ description: "Whether you may change it and send refused records again." }),
    arrivals: z.array(arrival).meta({ description: "By emitter, the latest first." }),
    account: z.array(accountRow).meta({
      description:
        "The outcome of every usage record of the last 7 days, by the hour, latest first, at most 2,000 rows. The counts sum to the number of usage records that arrived.",
    }),
    refusals: z.array(refusal).meta({ description: "The latest first, at most 50 reasons." }),
    kept: z
      .object({
        exports: z.int(),
        records: z.int(),
        last_at: instant.nullable(),
      })
      .meta({
        description:
          "Refused records that can be sent again: those of the last 20 requests of 7 days, at most 1 MiB.",
      }),
    unpriced: z
      .array(z.object({ provider: z.string(), model: z.string().nullable(), line_count: z.int() }))
      .meta({ description: "Models without a price, the most frequent first, at most 50." }),
  })
  .meta({ id: "SourceDetails" });
export type Source = z.output<typeof source>;

export const replayResult = z
  .object({
    sent: z.int().meta({ description: "Records that were sent again." }),
    recorded: z.int(),
    repeated: z.int().meta({ description: "Recorded before." }),
    refused: z.int(),
    skipped: z.int().meta({
      description: "Counted in another way meanwhile: by the source's metrics or a later total.",
    }),
    reasons: z.array(z.object({ code: z.string(), description: z.string(), count: z.int() })),
  })
  .meta({ id: "ReplayResult" });
export type ReplayResult = z.output<typeof replayResult>;

export const sourceParams = z.strictObject({ slug: workspaceSlug, id: uuid });
