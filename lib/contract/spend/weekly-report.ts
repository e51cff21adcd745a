import { z } from "zod";
import { day, instant } from "@/lib/contract/values/fields";
import { timeZone } from "@/lib/contract/values/time-zone";

const sentIn = timeZone.meta({
  description: "Your time zone, by its name in the time zone database: its weeks are reported.",
});

/** Whether the reader receives the weekly report of a workspace. */
export const weeklyReport = z
  .object({
    enabled: z.boolean(),
    time_zone: z.string().nullable().meta({ description: "Null while it is off." }),
    next_at: instant.nullable().meta({ description: "When the next one is sent: a Monday at 08:00 there." }),
    can_mail: z.boolean().meta({ description: "Whether this service can send mail." }),
  })
  .meta({ id: "WeeklyReport" });
export type WeeklyReport = z.output<typeof weeklyReport>;

export const weeklyReportRequest = z
  .discriminatedUnion("enabled", [
    z.strictObject({ enabled: z.literal(true), time_zone: sentIn }),
    z.strictObject({ enabled: z.literal(false) }),
  ])
  .meta({ id: "WeeklyReportRequest" });
export type WeeklyReportRequest = z.output<typeof weeklyReportRequest>;

export const sendReportRequest = z
  .strictObject({
    time_zone: sentIn.optional().meta({
      description: "The time zone whose week is reported. Default: the workspace's.",
    }),
  })
  .meta({ id: "SendWeeklyReportRequest" });

export const sentReport = z
  .object({
    sent_to: z.string(),
    week: day.meta({ description: "The Monday of the reported week, which is the last complete one." }),
    error: z.string().nullable().meta({ description: "Why it could not be sent; null if it was sent." }),
  })
  .meta({ id: "SentWeeklyReport" });
export type SentReport = z.output<typeof sentReport>;

export const endReportQuery = z.strictObject({
  token: z
    .string()
    .regex(/^[A-Za-z0-9_-]{43}$/, "must be the token of a mail's link")
    .meta({ description: "The token in the link of a mail." }),
});

export const endedReport = z
  .object({ ended: z.literal(true) })
  .meta({ id: "EndedWeeklyReport", description: "The same for a link that was used before." });
