import { z } from "zod";
import { instant, uuid } from "@/lib/contract/values/fields";
import { inbox, inboxEntry } from "./alert-inbox";
import { maxSnoozeDays } from "./alert-rules";

// The part of the inbox that the agent tools read and change. An entry's figures and course are left out: its text has the figures,
// and its linked pages have the course.

export const toolEntry = inboxEntry.omit({ figures: true, course: true });
export type ToolEntry = z.output<typeof toolEntry>;

export const toolInbox = inbox.pick({ next_cursor: true, counts: true }).extend({
  entries: z.array(toolEntry).meta({ description: "Those of which something fired last are first." }),
});
export type ToolInbox = z.output<typeof toolInbox>;

const id = uuid.meta({ description: "The entry's id, from list_alerts." });

export const takeAlert = z.strictObject({
  id,
  assignee: z
    .enum(["me", "nobody"])
    .default("me")
    .meta({ description: "`me`: the user takes care of it; `nobody`: the user gives it back." }),
});

export const snoozeAlert = z.strictObject({
  id,
  until: instant.meta({
    description: `No notification of its subject is sent before this time, at most ${maxSnoozeDays} days from now.`,
  }),
});

export const resolveAlert = z.strictObject({
  id,
  resolved: z
    .boolean()
    .default(true)
    .meta({ description: "`false` opens it again, where a member had resolved it." }),
});
