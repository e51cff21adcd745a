import { z } from "zod";
import { workspaceSlug } from "@/lib/contract/access/workspace";
import { day, instant, rowLimit, text, uuid } from "@/lib/contract/values/fields";
import { alertFigures } from "./alert-figures";
import { alertRule, alertSeverity, alertSubjectType } from "./alert-rules";
import { alert } from "./alerts";

/** The most alerts in an entry's `course`. */
export const maxCourse = 20;

const status = z.enum(["open", "snoozed", "resolved"]).meta({
  description:
    "`open`: it needs somebody; `snoozed`: it is open, and its alerts are not sent before a time; `resolved`: a member resolved it, or it no longer holds.",
});
export type EntryStatus = z.output<typeof status>;

export const inboxQuery = z.strictObject({
  status: z
    .enum([...status.options, "all"])
    .default("open")
    .meta({ description: "Only entries with this status." }),
  assignee: z
    .union([z.enum(["me", "nobody"]), uuid], "must be `me`, `nobody` or the id of a member")
    .optional()
    .meta({ description: "Only entries that this member has: `me`, `nobody`, or a member's id." }),
  limit: rowLimit(100, 25),
  cursor: text(500).optional().meta({ description: "`next_cursor` of the previous answer, unchanged." }),
});
export type InboxQuery = z.output<typeof inboxQuery>;

const person = z.object({ user_id: uuid, name: z.string().meta({ description: "A name, or an address." }) });

export const inboxEntry = z
  .object({
    id: uuid,
    status,
    rule: alertRule,
    severity: alertSeverity,
    subject: z
      .object({ type: alertSubjectType, id: z.string(), name: z.string() })
      .meta({ description: "What it is about, with its name at that time." }),
    period: z
      .object({ from: day, until: day.meta({ description: "The first day after the period." }) })
      .nullable()
      .meta({ description: "The period that it is about; null for one that has no end." }),
    title: z.string().meta({ description: "What happened last, in words." }),
    summary: z.string().meta({ description: "Why, in words." }),
    advice: z.string().meta({ description: "What to do about it." }),
    figures: alertFigures,
    links: z
      .array(z.object({ text: z.string(), url: z.string() }))
      .meta({ description: "Pages of the dashboard: the subject first, then the rows behind the figures." }),
    opened_at: instant.meta({ description: "When its first alert fired." }),
    last_fired_at: instant,
    assignee: person.nullable().meta({ description: "The member who has it; null for nobody." }),
    snooze: z
      .object({
        id: uuid,
        until: instant,
        whole_rule: z.boolean().meta({ description: "Whether all subjects of the rule are snoozed." }),
      })
      .nullable()
      .meta({ description: "The snooze that ends last; null if it is not snoozed." }),
    resolved: z
      .object({
        at: instant,
        because: z.enum(["by_hand", "recovered", "period_over", "gone", "rule_off"]).meta({
          description:
            "`by_hand`: a member resolved it; `recovered`: it no longer holds; `period_over`: its period ended; `gone`: its subject was deleted or revoked; `rule_off`: its rule was turned off.",
        }),
        by: person.nullable().meta({ description: "The member who resolved it, while they are one." }),
      })
      .nullable()
      .meta({ description: "Null while it is open." }),
    course: z.array(alert).meta({
      description: `Its alerts, the newest first: at most ${maxCourse}. The end of one has the state \`ok\`.`,
    }),
  })
  .meta({ id: "AlertInboxEntry" });
export type InboxEntry = z.output<typeof inboxEntry>;

export const inbox = z
  .object({
    entries: z.array(inboxEntry).meta({ description: "Those of which something fired last are first." }),
    next_cursor: z.string().nullable().meta({ description: "Null if there are no more." }),
    counts: z
      .object({ open: z.int(), snoozed: z.int(), mine: z.int() })
      .meta({ description: "How many entries are open, snoozed, and open and assigned to you." }),
    can_change: z.boolean().meta({ description: "Whether you may assign and resolve entries." }),
    can_snooze: z.boolean().meta({ description: "Whether you may snooze." }),
  })
  .meta({ id: "AlertInbox" });
export type Inbox = z.output<typeof inbox>;

/** Fields that are left out stay unchanged. */
export const changeEntryRequest = z
  .strictObject({
    assignee_id: uuid
      .nullable()
      .optional()
      .meta({ description: "The member who takes care of it; null for nobody." }),
    resolved: z
      .boolean()
      .optional()
      .meta({ description: "True resolves it; false opens it again, where a member had resolved it." }),
  })
  .meta({ id: "ChangeAlertInboxEntryRequest" });
export type ChangeEntryRequest = z.output<typeof changeEntryRequest>;

export const entryParams = z.strictObject({ slug: workspaceSlug, id: uuid });
