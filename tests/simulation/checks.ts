import { ledgerDifferences } from "@/tests/helpers/harness";
import { type Simulation, Violation } from "./simulation";
import { dayMs, type Team } from "./world";

/** What holds at any moment: no limit is overshot. */
export async function checkLimits(simulation: Simulation, team: Team): Promise<void> {
  const keys = await simulation.look(
    `select k.monthly_limit::text as limit, s.amount_usd::text as spent, s.month::text from public.key_spend as s
     join public.api_keys as k on k.id = s.api_key_id where k.workspace_id = $1 and s.amount_usd > k.monthly_limit`,
    [team.id],
  );
  if (keys[0]) throw new Violation(`A key of $${keys[0].limit} spent $${keys[0].spent} in ${keys[0].month}.`);
  const budgets = await simulation.look(
    `select b.name, b.amount::text as limit, sum(m.amount_usd)::text as spent, min(m.occurred_at)::date::text as since
     from public.budgets as b join public.messages as m on m.workspace_id = b.workspace_id
       and case b.scope_type when 'project' then m.project_id::text = b.scope_value else m.feature = b.scope_value end
     where b.workspace_id = $1 and b.blocks and m.environment = 'live' and m.occurred_at >= b.counted_from
       and (b.starts_on is null or m.occurred_at >= b.starts_on) and (b.ends_on is null or m.occurred_at < b.ends_on + 1)
     group by b.id, b.name, b.amount, date_trunc('month', m.occurred_at at time zone 'UTC')
     having sum(m.amount_usd) > b.amount`,
    [team.id],
  );
  if (budgets[0])
    throw new Violation(
      `The budget "${budgets[0].name}" of $${budgets[0].limit} has $${budgets[0].spent} spent in the month of ${budgets[0].since}.`,
    );
}

/** What holds at any moment: every sum is the sum of its rows. */
export async function checkSums(simulation: Simulation, team: Team): Promise<void> {
  const [difference] = await ledgerDifferences(simulation.fixtures, team.id);
  if (difference) throw new Violation(`A sum differs from its rows: ${JSON.stringify(difference)}`);
}

/** What holds when nothing is under way. */
export async function checkAll(simulation: Simulation, team: Team): Promise<void> {
  await checkLimits(simulation, team);
  await checkSums(simulation, team);
  await checkMessages(simulation, team);
  await checkTelemetry(simulation, team);
  await checkAlerts(simulation, team);
  await checkHolds(simulation, team);
}

/** Every acknowledged message is there once, and no other. */
async function checkMessages(simulation: Simulation, team: Team): Promise<void> {
  const stored = await simulation.look(
    `select m.id, (sum(m.amount_usd) * 1000000)::bigint::text as usd, bool_or(m.voided_by is not null) as voided from public.messages as m
     where m.workspace_id = $1 and m.voids is null and m.api_key_id = any ($2) group by m.id`,
    [team.id, (["full", "limited", "subscriber", "denied"] as const).map((key) => team.keys[key].id)],
  );
  const found = new Map(stored.map((row) => [row.id as string, row]));
  for (const { id, usd, isVoid } of team.entries.values()) {
    const row = found.get(id);
    if (!row) throw new Violation(`The message ${id}, which was acknowledged, is not there.`);
    if (Number(row.usd) !== usd) throw new Violation(`The message ${id} of ${usd} has ${row.usd}.`);
    if (row.voided !== isVoid) throw new Violation(`The message ${id} is ${row.voided ? "" : "not "}void.`);
    found.delete(id);
  }
  const due = await simulation.look(
    `select id from public.messages where id = any ($1) and type = 'subscription'`,
    [[...found.keys()]],
  );
  for (const { id } of due) {
    team.entries.set(id, { id, key: "full", usd: Number(found.get(id)?.usd), isVoid: false });
    found.delete(id);
  }
  const [more] = found.keys();
  if (more)
    throw new Violation(
      `The message ${more} was recorded, and nobody sent it or knows of it: ${found.size} such.`,
    );
}

/** A call that several programs report is one message; running totals count what they grew by. */
async function checkTelemetry(simulation: Simulation, team: Team): Promise<void> {
  const tokens = async (key: string) =>
    (
      await simulation.look(
        `select count(distinct id)::int as messages, coalesce(sum(quantity) filter (where unit_type like '%input%' or unit_type like 'cache%'), 0)::float8 as input
         from public.messages where api_key_id = $1 and voids is null and voided_by is null`,
        [key],
      )
    )[0];
  const { messages, input } = await tokens(team.keys.source.id);
  if (messages !== team.reported.length)
    throw new Violation(`${team.reported.length} calls of models were reported, and ${messages} recorded.`);
  const told = team.reported.reduce((sum, call) => sum + call.input, 0);
  if (input !== told) throw new Violation(`Calls with ${told} input tokens were recorded with ${input}.`);
  const kept = await simulation.look(
    "select key from private.idempotency where workspace_id = $1 and key like 'otel:%' and request <> '{\"environment\": \"live\"}' limit 1",
    [team.id],
  );
  if (kept[0])
    throw new Violation(`What was told of a call is kept with its keys: ${JSON.stringify(kept[0])}`);
  const metered = await tokens(team.keys.meter.id);
  const total = [...team.totals.values()].reduce((sum, { value }) => sum + value, 0);
  if (metered.input !== total)
    throw new Violation(`Running totals reached ${total} tokens, and ${metered.input} are recorded.`);
}

/** Each threshold that was reached has one alert; a channel is turned off after a day of failures; what can be delivered is. */
async function checkAlerts(simulation: Simulation, team: Team): Promise<void> {
  const twice = await simulation.look(
    `select rule, level, period::text, count(*)::int as count from public.alerts where workspace_id = $1
     group by rule, subject_id, period, level, rearmed_at, state, details ->> 'state' having count(*) > 1`,
    [team.id],
  );
  if (twice[0])
    throw new Violation(`An alert was raised ${twice[0].count} times: ${JSON.stringify(twice[0])}`);
  const missing = await simulation.look(
    `select b.name, p.level, s.spent::text from public.budgets as b
     cross join lateral (
       select coalesce(sum(m.amount_usd), 0) as spent, date_trunc('month', $2::timestamptz at time zone 'UTC')::date as month from public.messages as m
       where m.workspace_id = b.workspace_id and m.environment = 'live'
         and date_trunc('month', m.occurred_at at time zone 'UTC') = date_trunc('month', $2::timestamptz at time zone 'UTC')
         and (b.scope_type = 'global' or m.project_id::text = b.scope_value)
     ) as s
     cross join unnest(b.alert_percents) as p (level)
     where b.workspace_id = $1 and b.name in ('everything', 'capped') and s.spent >= b.amount * p.level / 100
       and not exists (
         select from public.alerts as a where a.workspace_id = $1 and a.rule = 'budget_threshold' and a.subject_id = b.id::text
           and a.period = s.month and a.level::numeric = p.level
       )`,
    [team.id, new Date(simulation.now)],
  );
  if (missing[0])
    throw new Violation(`A threshold was reached without an alert: ${JSON.stringify(missing[0])}`);
  const off = await simulation.look(
    `select name, failing_since, disabled_at from public.alert_channels where workspace_id = $1 and disabled_reason = 'failing'
     and disabled_at < failing_since + interval '1 day'`,
    [team.id],
  );
  if (off[0])
    throw new Violation(`A channel was turned off before it failed for a day: ${JSON.stringify(off[0])}`);
  const stuck = await simulation.look(
    `select d.id from public.deliveries as d join public.alert_channels as c on c.id = d.channel_id
     where d.workspace_id = $1 and c.name = 'well' and d.state not in ('delivered', 'cancelled') and d.created_at < $2`,
    [team.id, new Date(simulation.now - dayMs)],
  );
  if (stuck[0])
    throw new Violation(
      `A delivery to a receiver that answers well was not delivered within a day: ${stuck[0].id}`,
    );
}

/** Reservations hold until they are settled, released, or past their end. */
async function checkHolds(simulation: Simulation, team: Team): Promise<void> {
  const { body } = await simulation.run(
    simulation.call("GET", "/api/v1/limits", { secret: team.keys.limited.secret }),
  );
  const held = [...team.held.values()].filter(
    ({ key, endsAt }) => key === "limited" && endsAt > simulation.now,
  );
  if (held.some(({ endsAt }) => endsAt < simulation.now + 5_000)) return;
  const sum = held.reduce((total, { usd }) => total + usd, 0);
  const shown = Math.round(Number(body.key.monthly_limit.held_usd) * 1e6);
  if (shown !== sum) throw new Violation(`Reservations hold ${sum}, and ${shown} is shown as held.`);
}

/** After folding, every past day has its sums by month. */
export async function checkFolds(simulation: Simulation): Promise<void> {
  const done = await simulation.run(simulation.job("fold_past_days"));
  if (done === undefined) return;
  const [{ count }] = await simulation.look(
    `select count(*)::int as count from public.daily_spend as d left join public.spend_folds as f using (workspace_id)
     where d.day >= coalesce(f.folded_until, '-infinity') and d.day < private.past_until($1)`,
    [new Date(simulation.now)],
  );
  if (count > 0) throw new Violation(`${count} sums of past days are not folded when folding has ended.`);
}
