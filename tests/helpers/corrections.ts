import { beforeAll, expect } from "vitest";
import { costMessage } from "./client";
import type { Harness } from "./harness";
import { clientIn } from "./recording";
import { makeTeam, type Team } from "./team";

/** A user of the team. */
export type Role = keyof Team["users"];

/** What messages are recorded with, and what voids and corrects them. */
type Key = Awaited<ReturnType<typeof clientIn>>;

/**
 * Makes a team with a key before the tests of a file, for tests of voids and corrections in its workspace. `team` and `key` are
 * filled in then.
 */
export function withCorrectingTeam(harness: Harness) {
  const team = {} as Team;
  const key = {} as Key;
  beforeAll(async () => {
    Object.assign(team, await makeTeam(harness));
    Object.assign(key, await clientIn(harness, team.workspace));
  });

  /** The rows that a statement of the database's owner returns. */
  const rows = async (text: string, values: unknown[] = []) =>
    (await harness.fixtures.sql.query(text, values)).rows;
  const as = (role: Role) => team.users[role];
  /** Voids a message, or does what `how` says with it. */
  const undo = (role: Role, id: string, body: object = { reason: "Recorded twice." }, how = "void") =>
    as(role).call("POST", `${team.path}/messages/${id}/${how}`, body);
  /** Voids a message and records another one in its place. */
  const correct = (role: Role, id: string, message: object, more: object = {}) =>
    undo(role, id, { reason: "A wrong amount.", project: "checkout", message, ...more }, "correct");
  /** Records a message with the key. @returns its id */
  const recordWith = async (message: object, project = "checkout") => {
    const { status, body } = await key.post({ project, source: "api", message });
    expect(status).toBe(201);
    return String(body.id);
  };
  /** Records a message as a member does on the page. @returns its id */
  const recordByHand = async (role: Role, message: Record<string, unknown> = {}) => {
    const { body } = await as(role).call("POST", `${team.path}/messages/batch`, {
      messages: [costMessage(message, { source: "manual" })],
    });
    return (body.results as { id: string }[])[0]?.id as string;
  };

  /** All stored sums of the workspace, without rows that are zero. */
  const sums = () =>
    rows(
      `select * from (
         select 'spend' as of, to_jsonb(d) - 'amount_usd' - 'message_count' - 'item_count' - 'unpriced_count' - 'included_usd' as what,
           trim_scale(amount_usd)::text as amount, message_count, item_count, unpriced_count, trim_scale(included_usd)::text as included
         from public.daily_spend as d where workspace_id = $1
         union all
         select 'totals', to_jsonb(t) - 'amount_usd' - 'message_count' - 'unpriced_count' - 'included_usd',
           trim_scale(amount_usd)::text, message_count, 0, unpriced_count, trim_scale(included_usd)::text
         from public.daily_totals as t where workspace_id = $1
         union all
         select 'key', to_jsonb(k) - 'amount_usd' - 'message_count', trim_scale(amount_usd)::text, message_count, 0, 0, '0'
         from public.key_spend as k where workspace_id = $1
         union all
         select 'budget', to_jsonb(b) - 'spent_usd' - 'booked_usd' - 'alert_at_usd', trim_scale(spent_usd)::text, 0, 0, 0, trim_scale(booked_usd)::text
         from public.budget_spend as b where workspace_id = $1
       ) as s
       where not (amount = '0' and message_count = 0 and item_count = 0 and unpriced_count = 0 and included = '0')
       order by of, what::text`,
      [team.workspace],
    );
  return { team, key, rows, as, undo, correct, recordWith, recordByHand, sums };
}
