import { randomUUID } from "node:crypto";
import { beforeAll, beforeEach } from "vitest";
import { type OpenDatabase, withDatabase } from "./with-database";

/** A database whose alerts have entries in the inbox, with a new workspace for each test. */
export function withInbox() {
  const inbox = {} as OpenDatabase & { workspace: string };
  withDatabase((open) => Object.assign(inbox, open));
  beforeAll(() => inbox.fixtures.sql.query("select private.ensure_messages_month(now())"));
  beforeEach(async () => {
    inbox.workspace = await inbox.fixtures.workspace();
  });

  const rows = async (sql: string, values: unknown[] = [inbox.workspace]) =>
    (await inbox.fixtures.sql.query(sql, values)).rows;

  return Object.assign(inbox, {
    /** The rows of a statement, whose one value is the workspace by default. */
    rows,

    /** The entries of the workspace, as `rule level of the last alert: open`, or why each is resolved. */
    entries: async () =>
      (
        await rows(
          `select e.rule, a.level, coalesce(e.resolved_because, 'open') as status
           from public.alert_entries as e join public.alerts as a on a.workspace_id = e.workspace_id and a.number = e.last_number
           where e.workspace_id = $1 order by e.rule, e.period`,
        )
      ).map(({ rule, level, status }) => `${rule} ${level}: ${status}`),

    /** Runs the job that resolves entries and opens them again. @param at the time that it takes for now */
    settle: (at?: string) =>
      at
        ? inbox.service.query("select private.settle_alert_entries(null, $1::timestamptz)", [at])
        : inbox.service.query("select private.settle_alert_entries()"),

    /** Records spend in the workspace, as a message does. */
    spend: async (usd: string) =>
      inbox.service.query("select private.store_messages('[]', $1, '[]')", [
        JSON.stringify([
          {
            workspace_id: inbox.workspace,
            id: randomUUID(),
            created_at: new Date().toISOString(),
            occurred_at: new Date().toISOString(),
            project_id: await inbox.fixtures.project(inbox.workspace, `p-${randomUUID()}`),
            type: "usage",
            source: "api",
            environment: "live",
            amount_usd: usd,
            cost_status: "client",
          },
        ]),
      ]),

    /** Adds a budget of 100 USD a month, with alerts at 50, 80 and 100 %. @returns its id */
    addBudget: async (): Promise<string> => {
      const [row] = await rows(
        `insert into public.budgets (workspace_id, name, scope_type, amount, alert_percents)
         values ($1, 'All', 'global', 100, '{50,80,100}') returning id`,
      );
      return row.id;
    },

    /** What a rule about a key has judged, as `judge` takes it. */
    verdict: (state: string, more: object = {}) => ({
      workspace_id: inbox.workspace,
      rule: "key_limit",
      subject_type: "key",
      subject_id: "k1",
      period: "2026-11-01",
      state,
      details: { subject: "Key", amount_usd: "100", spent_usd: "90", percent: "90" },
      ...more,
    }),

    /** Stores what rules have judged, which alerts where a state began or ended. */
    judge: (...verdicts: object[]) =>
      inbox.service.query("select private.settle_alert_states($1)", [JSON.stringify(verdicts)]),
  });
}
