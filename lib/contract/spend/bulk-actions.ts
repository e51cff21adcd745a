import { z } from "zod";
import { workspaceSlug } from "@/lib/contract/access/workspace";
import { tagName, tags } from "@/lib/contract/ledger/attribution";
import { maxBulkMessages } from "@/lib/contract/ledger/limits";
import {
  day,
  decimalNumber,
  instant,
  positiveDecimal,
  projectSlug,
  text,
  uuid,
} from "@/lib/contract/values/fields";
import { activityFilter } from "./activity-filters";
import { environment } from "./ledger-query";

const set = z
  .strictObject({
    project: projectSlug.optional().meta({ description: "Moves them to this project; it must exist." }),
    feature: text(128, "Their feature; null for none.").nullable().optional(),
    add_tags: tags.meta({
      description: "Tags to add, by name, at most 10; a tag that is there gets this value.",
    }),
    remove_tags: z.array(tagName).max(50).optional().meta({ description: "Names of tags to remove." }),
    multiply_by: positiveDecimal(
      "Multiplies their amounts: `0.01` where cents were recorded as dollars. They count as given by hand then, at no price.",
    ).optional(),
  })
  .meta({
    id: "BulkChange",
    description: "What `correct` changes. Everything else stays as it was recorded.",
  });
export type BulkChange = z.output<typeof set>;

export const bulkActionRequest = z
  .strictObject({
    action: z.enum(["void", "correct"]).meta({
      description:
        "`void` takes them out of every sum; `correct` records each again with the changes of `set`.",
    }),
    messages: z
      .array(uuid)
      .min(1)
      .max(maxBulkMessages)
      .optional()
      .meta({ description: "The ids of the messages; an id that comes twice counts once." }),
    filters: activityFilter.optional().meta({
      description: `In the place of \`messages\`: every message of activity that matches, at most ${maxBulkMessages}. Voids and what is voided are left out. A message with lines is changed as a whole, even where only some of its lines match.`,
    }),
    set: set.optional(),
    reason: text(
      500,
      "Why, for those who read the ledger and the audit log later. Not needed for a preview.",
    ).optional(),
    dry_run: z
      .boolean()
      .default(false)
      .meta({ description: "Answers what the action would do, in `effects`, and does nothing." }),
    idempotency_key: text(
      255,
      "Your own key for this request: a retry with the same key is answered as the first request was.",
    ).optional(),
  })
  .superRefine((request, context) => {
    const { action, messages, filters, set: change, reason, dry_run: isDry } = request;
    const refuse = (path: string, message: string) =>
      context.addIssue({ code: "custom", path: [path], message });
    if ((messages === undefined) === (filters === undefined))
      refuse("messages", "must be given, or filters in its place");
    if (action === "void" && change !== undefined) refuse("set", "must be left out for a void");
    if (action === "correct" && Object.values(change ?? {}).every((value) => value === undefined))
      refuse("set", "must change something");
    if (reason === undefined && !isDry) refuse("reason", "is required");
  })
  .meta({ id: "BulkActionRequest" });
export type BulkActionRequest = z.output<typeof bulkActionRequest>;

const beforeAndAfter = {
  before_usd: decimalNumber("USD, before the action."),
  after_usd: decimalNumber("USD, after it."),
};

/** The effects of a bulk change on sums, budgets and alerts. */
export const bulkEffects = z
  .object({
    projects: z
      .array(
        z.object({
          slug: z.string(),
          name: z.string(),
          environment,
          days: z.array(z.object({ day, ...beforeAndAfter })),
        }),
      )
      .meta({ description: "What these projects cost on each day on which that changes." }),
    budgets: z
      .array(
        z.object({
          id: uuid,
          name: z.string(),
          from: day.meta({ description: "The first day of the period." }),
          until: day
            .nullable()
            .meta({ description: "The first day of the next one; null for a budget without periods." }),
          limit_usd: decimalNumber("USD."),
          ...beforeAndAfter,
        }),
      )
      .meta({
        description: "What is spent of each budget whose spend changes, a row for each of its periods.",
      }),
    alerts: z
      .array(
        z.object({
          budget: z.string(),
          percent: z.string().meta({ description: "The threshold, in percent of the limit." }),
          threshold_usd: decimalNumber("USD."),
        }),
      )
      .meta({
        description:
          "Alerts of budgets that it would raise. What was raised before stays, and is not raised again.",
      }),
  })
  .meta({ id: "BulkEffects" });
export type BulkEffects = z.output<typeof bulkEffects>;

/** What was done to many messages, or would be. */
export const bulkAction = z
  .object({
    id: uuid.nullable().meta({ description: "What an undo names; null for a preview." }),
    action: z.enum(["void", "correct"]),
    message_count: z.int().meta({ description: "Messages that it changes." }),
    unchanged_count: z.int().meta({
      description:
        "Messages that it leaves alone, because they are already as they should be, or voided and found by filters.",
    }),
    before_usd: decimalNumber("USD of these messages before."),
    after_usd: decimalNumber("USD of what replaces them; 0 for a void."),
    messages: z.array(uuid).nullable().meta({
      description:
        "Of a preview: the messages that it would change. Send them to change exactly these; otherwise null.",
    }),
    effects: bulkEffects.nullable().meta({ description: "Of a preview; otherwise null." }),
    undo_until: instant
      .nullable()
      .meta({ description: "Until when it can be undone; null when it was, and for a preview." }),
    undone_at: instant.nullable(),
  })
  .meta({ id: "BulkAction" });
export type BulkAction = z.output<typeof bulkAction>;

export const bulkActionParams = z.strictObject({ slug: workspaceSlug, id: uuid });
