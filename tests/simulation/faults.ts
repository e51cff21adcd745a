import type { SourceFault } from "./bundle";
import type { SqlFault } from "./database";

/** A fault that was planted once and that no test saw, or one of its kind where the code has gone. */
export type Fault = { name: string; source?: SourceFault[]; sql?: SqlFault[] };

const source = (name: string, file: string, replace: string, by: string): Fault => ({
  name,
  source: [{ file, replace, by }],
});
const sql = (name: string, routine: string, replace: string, by: string): Fault => ({
  name,
  sql: [{ routine, replace, by }],
});

export const faults: Fault[] = [
  source(
    "a running total that did not grow counts again",
    "lib/ledger/telemetry/running-totals.ts",
    "compare(total, before) < 0",
    "compare(total, before) <= 0",
  ),
  source(
    "a call whose input was all cached",
    "lib/sources/mapping/tokens.ts",
    "compare(cached, input) <= 0",
    "compare(cached, input) < 0",
  ),
  source(
    "past periods of a subscription outside the key's limit",
    "lib/ledger/ingest/group-work.ts",
    "return due.reduce((total, { composed }) => add(total, composed.cost), own.cost);",
    "return due.length < 0 ? own.cost : own.cost;",
  ),
  sql(
    "folding without its twelve hours",
    "private.past_until",
    "'12:00:00'::interval",
    "'00:00:00'::interval",
  ),
  source(
    "a correction without its budget lock",
    "lib/ledger/corrections/service.ts",
    "await asServiceWithin(client, () => lockBlockingBudgets(client, workspace.id));",
    "",
  ),
  source(
    "totals settled after the answer",
    "lib/sources/record-export.ts",
    "await settleTotals(owner, increments);",
    "void settleTotals(owner, increments);",
  ),
  source(
    "an aborted stream told twice",
    "lib/sources/mapping/call-report.ts",
    "compare(output, one) > 0",
    "compare(output, one) >= 0",
  ),
  source("a budget not on its last day", "lib/spend/limits/service.ts", "last >= today", "last > today"),
  source(
    "a reset without the budget's end",
    "lib/keys/blocking-budgets.ts",
    "return Math.min(period.endsAt, budget.counts_until ?? Number.POSITIVE_INFINITY);",
    "return period.endsAt;",
  ),
  sql(
    "a telling known for an hour, not a day",
    "private.sweep_tellings",
    "t.told_at < now() - interval '1 day'",
    "t.told_at < now() - interval '1 hour'",
  ),
  sql(
    "a channel off after an hour of failures",
    "private.finish_delivery",
    "at_moment - interval '1 day'",
    "at_moment - interval '1 hour'",
  ),
  {
    name: "an invitation accepted by another address",
    source: [
      {
        file: "lib/access/invitations/service.ts",
        replace: "if (!offer.is_member && !offer.is_for_caller) {",
        by: "if (offer.slug === undefined) {",
      },
    ],
    sql: [
      {
        routine: "private.accept_invitation",
        replace: "or not (offered ->> 'is_for_caller')::boolean",
        by: "",
      },
    ],
  },
  source(
    "a correction's hash in the order of its members",
    "lib/ledger/corrections/attempts.ts",
    "JSON.stringify(meaning, inOrder)",
    "JSON.stringify(meaning)",
  ),
  source(
    "tool calls retried at another worker",
    "lib/mcp/retries.ts",
    'broadcast("lost tool call", { fingerprint, key });',
    "",
  ),
  source(
    "sessions closed after a deletion is answered",
    "lib/access/account/service.ts",
    "if (!supabaseProject()) await closeSessions",
    "if (!supabaseProject()) void closeSessions",
  ),
  source(
    "what was told kept with the keys of a call",
    "lib/ledger/ingest/duplicate-reports.ts",
    "request: { environment },",
    "request: { environment, response: answer.response },",
  ),
  source(
    "deliveries that cannot be read are not noted",
    "lib/sources/gateways/http.ts",
    "return jsonResponse(result, 200, requestId, headers);\n    } catch (error) {\n      countRefusal(sender, error);",
    "return jsonResponse(result, 200, requestId, headers);\n    } catch (error) {",
  ),
  source(
    "no bound for failing channels",
    "lib/alerts/delivery/pump.ts",
    "most = { all: 64, failing: 32, perQueue: 4 }",
    "most = { all: 64, failing: 64, perQueue: 4 }",
  ),
  source(
    "figures of all projects for a key that may not use one",
    "lib/keys/blocking-budgets.ts",
    "const isConfined = hasProjects || Boolean(denied?.length);",
    "const isConfined = hasProjects || denied === null;",
  ),
  source("pages of sessions", "lib/spend/activity/sessions.ts", "after, limit + 1);", "after, limit);"),
  sql("refused exports without a bound", "private.note_sources", "ranked.place > 20", "ranked.place > 21"),
  source(
    "deliveries swept once",
    "lib/alerts/delivery/jobs.ts",
    "if (done < atMost) return all;",
    "if (done <= atMost) return all;",
  ),
  source(
    "folding one month",
    "lib/ledger/folding/service.ts",
    "runSteps(() => asService(foldPastDays, deadlines.job))",
    "asService(foldPastDays, deadlines.job).then((folded) => folded ?? 0)",
  ),
  source("pages of alerts", "lib/alerts/log/service.ts", "atMost: limit + 1 }", "atMost: limit }"),
  source(
    "the supervisor's pause is not doubled",
    "server/supervisor.ts",
    "Math.max(2 * lastMs, pauseMs.least)",
    "Math.max(lastMs, pauseMs.least)",
  ),
  source(
    "the connections of a process",
    "lib/db/pool.ts",
    "writing: all - 1 - reading",
    "writing: all - reading",
  ),
];
