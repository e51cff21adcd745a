import { z } from "zod";
import { orNone, rangeDay } from "@/lib/contract/spend/ledger-query";
import { instant, rowLimit, text, uuid } from "@/lib/contract/values/fields";

const maxRows = 100;
const defaultRows = 25;

/** The most entries that one answer reads for conditions without an index: a text search, or a filter besides the indexed one. */
export const maxSearchedEntries = 10_000;

/** The orders of the log, the default first. */
export const auditOrders = ["newest", "oldest"] as const;

/** The filters of the audit log. */
const auditFilters = {
  kind: z
    .string()
    .regex(/^[a-z][a-z_]{0,30}$/, "must be a kind like member or api_key")
    .optional()
    .meta({
      description:
        "Changes of one kind of thing: `workspace`, `member`, `invitation`, `project`, `api_key`, `budget`, `budget_request`, `connection`, `alert_channel`, `slack_link`, `saved_view`, `alert_rule`, `alert_snooze`, `alert_entry`, `price`, `repricing`, `subscription`, `closed_month`, `bill`, `bill_adjustment`, `provider_account`, `provider_limit`, `provider_telemetry`, `account`, `authenticator`, `recovery_code`, `person`, `message`, `bulk_action`.",
    }),
  action: z
    .string()
    .regex(/^[a-z][a-z_]{0,30}\.[a-z][a-z_]{0,30}$/, "must be an action like member.changed")
    .optional()
    .meta({ description: "Changes of one sort, as `action` of an entry: `api_key.deleted`, for example." }),
  actor: orNone(uuid, 36, "The id of the user who made the change. Keys and the service itself have none."),
  key: uuid.optional().meta({ description: "The id of the API key that made the change." }),
  subject: text(200)
    .optional()
    .meta({ description: "Changes of one thing: `subject.id` of an entry, unchanged." }),
  q: text(100)
    .optional()
    .meta({
      description: `Text in the name, e-mail address or id of what was changed, before or after; of a price, in its provider, model and unit. Case does not matter. One answer looks through up to ${maxSearchedEntries} entries that match the other filters.`,
    }),
  from: rangeDay.optional().meta({ description: "The first day. Default: the first there is." }),
  to: rangeDay.optional().meta({ description: "The last day. Default: the last there is." }),
};

export const auditQuery = z
  .strictObject({
    ...auditFilters,
    order: z.enum(auditOrders).default("newest").meta({ description: "Which entries come first." }),
    limit: rowLimit(maxRows, defaultRows),
    cursor: text(500).optional().meta({
      description: "`next_cursor` of the previous answer, unchanged, with the same filters and order.",
    }),
  })
  .superRefine(({ from, to }, context) => {
    if (from !== undefined && to !== undefined && from > to)
      context.addIssue({ code: "custom", path: ["to"], message: "must not be before from" });
  });
export type AuditQuery = z.output<typeof auditQuery>;

/** One change: who made it, what changed, the values before and after, when, and from which address. */
const auditEntry = z
  .object({
    id: uuid,
    at: instant,
    actor: z
      .object({
        user_id: uuid,
        email: z.string().nullable().meta({ description: "The address at that time." }),
        display_name: z
          .string()
          .nullable()
          .meta({ description: "The present name, while they are a member." }),
      })
      .nullable()
      .meta({ description: "Null for a key and for the service itself." }),
    key: z
      .object({
        id: uuid,
        name: z.string().nullable().meta({ description: "The name at that time." }),
      })
      .nullable()
      .meta({ description: "The API key that made the change; null for a user and for the service itself." }),
    action: z.string().meta({ description: "`member.changed`, for example." }),
    subject: z.object({
      kind: z.string(),
      id: z.string().nullable().meta({ description: "Of a member, their user's id." }),
    }),
    before: z.record(z.string(), z.unknown()).nullable().meta({ description: "Null for a new object." }),
    after: z.record(z.string(), z.unknown()).nullable().meta({ description: "Null for a deleted object." }),
    address: z.string().nullable().meta({ description: "The address of the request, where known." }),
  })
  .meta({ id: "AuditEntry" });

export const auditList = z
  .object({
    entries: z.array(auditEntry).meta({ description: "The newest first, or the oldest, as asked." }),
    next_cursor: z.string().nullable().meta({
      description:
        "The cursor of the next entries; null if there are none. A search through many entries may return few or none and still have a next cursor.",
    }),
  })
  .meta({ id: "AuditList" });
