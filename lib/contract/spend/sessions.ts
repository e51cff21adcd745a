import { z } from "zod";
import { maxNameLength } from "@/lib/contract/ledger/attribution";
import { decimalNumber, instant, rowLimit, text } from "@/lib/contract/values/fields";
import { answeredPeriod, checkRange, environment, ledgerFilters, orNone } from "./ledger-query";

/** What sessions are sorted by: what they cost, or their latest call. */
export const sessionSorts = ["-amount", "-time"] as const;

export const sessionsQuery = z
  .strictObject({
    ...ledgerFilters,
    environment: environment.optional().meta({ description: "Default: both." }),
    emitter: orNone(text(64), 64, "The program that reported the usage, such as `claude-code`."),
    session: text(maxNameLength).optional().meta({ description: "One session alone, by its name." }),
    sort: z.enum(sessionSorts).default("-amount").meta({
      description: "`-amount`: those that cost most first; `-time`: those with the latest call first.",
    }),
    limit: rowLimit(100, 25, "Sessions at most."),
    cursor: text(1000)
      .optional()
      .meta({ description: "`next_cursor` of the previous answer, with the same filters and `sort`." }),
  })
  .superRefine(checkRange);
export type SessionsQuery = z.output<typeof sessionsQuery>;

/** The total of a session's calls. */
export const sessionTotal = z.object({
  amount_usd: decimalNumber("USD: the sum of the rows of activity with this session."),
  call_count: z.int().meta({ description: "Messages of the session, without those that were voided." }),
  first_at: instant.meta({ description: "When its first call occurred." }),
  last_at: instant.meta({ description: "When its latest call occurred." }),
});

/** The sessions of matching activity, each with its sum. */
export const sessionList = z
  .object({
    ...answeredPeriod,
    sessions: z.array(
      z
        .object({
          session: z.string(),
          ...sessionTotal.shape,
          models: z.array(z.string()).meta({ description: "Its models, at most five, by name." }),
        })
        .meta({ id: "SessionRow" }),
    ),
    next_cursor: z
      .string()
      .nullable()
      .meta({ description: "The cursor of the next sessions; null if there are none." }),
  })
  .meta({ id: "SessionList" });
export type SessionList = z.output<typeof sessionList>;
