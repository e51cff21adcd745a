import { z } from "zod";
import { instant, uuid } from "@/lib/contract/values/fields";
import { alertSeverity, alertState } from "./alert-rules";

/** The highest value of `unread`. The next constant is the most alerts in `newest`. */
export const maxUnread = 100;
export const newestAlerts = 8;

const item = z.object({
  id: uuid,
  title: z.string().meta({ description: "What fired, in words." }),
  text: z.string().meta({ description: "The figures at that time, in words." }),
  state: alertState,
  severity: alertSeverity,
  fired_at: instant,
  is_unread: z.boolean(),
  path: z.string().meta({ description: "The path of the page that it is about." }),
});
export type AlertNewsItem = z.output<typeof item>;

export const alertNews = z
  .object({
    unread: z
      .int()
      .min(0)
      .max(maxUnread)
      .meta({
        description: `How many alerts have fired since you last looked, ${maxUnread} at most. Alerts that were not sent, and those from before you joined, do not count.`,
      }),
    newest: z
      .array(item)
      .meta({ description: `The newest ${newestAlerts} alerts that were sent, newest first.` }),
  })
  .meta({ id: "AlertNews" });
export type AlertNews = z.output<typeof alertNews>;

export const seenAlertsRequest = z
  .strictObject({
    alert_id: uuid.meta({
      description: "The newest alert that you have seen: it and all before it are read.",
    }),
  })
  .meta({ id: "SeenAlertsRequest" });
export type SeenAlertsRequest = z.output<typeof seenAlertsRequest>;
