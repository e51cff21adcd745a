import { z } from "zod";
import { instant, text, uuid } from "./fields";

const maxRows = 100;
const defaultRows = 25;
const wholeRows = { error: `must be a whole number from 1 to ${maxRows}` };

export const auditQuery = z.strictObject({
  kind: z
    .string()
    .regex(/^[a-z][a-z_]{0,30}$/, "must be a kind like member or api_key")
    .optional()
    .meta({
      description:
        "Changes of one kind of thing: `workspace`, `member`, `invitation`, `project`, `api_key`, `budget`, `connection`, `alert_channel`, `saved_view`, `alert_rule`, `alert_snooze`, `price`, `repricing`, `subscription`, `account`, `authenticator`, `recovery_code`, `person`, `message`.",
    }),
  limit: z.coerce
    .number(wholeRows)
    .int(wholeRows)
    .min(1, wholeRows)
    .max(maxRows, wholeRows)
    .default(defaultRows)
    .meta({ jsonSchema: { type: "integer", minimum: 1, maximum: maxRows, default: defaultRows } }),
  cursor: text(500).optional().meta({ description: "`next_cursor` of the previous answer, unchanged." }),
});
export type AuditQuery = z.output<typeof auditQuery>;

/** One change: who, what, before, after, when, from where. */
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
      .meta({ description: "Null for the service itself." }),
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
    entries: z.array(auditEntry).meta({ description: "The newest first." }),
    next_cursor: z.string().nullable().meta({ description: "Null if there are no older ones." }),
  })
  .meta({ id: "AuditList" });
