import { addChannel, crossing, raise } from "@/tests/helpers/alerts";
import { type Simulation, Violation } from "./simulation";
import { dayMs, type Team } from "./world";

/** Many channels fail and hang: at most 32 of their deliveries are sent by one process at once. */
export async function hang(simulation: Simulation, team: Team): Promise<void> {
  const { receivers, fixtures, scheduler } = simulation;
  if (team.hasHung) return;
  team.hasHung = true;
  receivers.manners.set("hangs", "hangs");
  const change = (what: string, run: () => Promise<void>) =>
    scheduler.step(null, what, () => scheduler.busy(run));
  await change("40 channels fail", async () => {
    for (let index = 0; index < 40; index += 1)
      await addChannel(fixtures, team.id, {
        id: simulation.random.uuid(),
        name: `hangs ${index}`,
        address: "https://hooks.example.com/hangs",
        failing_since: new Date(simulation.now),
      });
    await raise(fixtures, crossing(team.id, { subject_id: `hang-${simulation.seed}` }));
  });
  for (let round = 0; round < 3; round += 1) {
    await simulation.job("deliver");
    await scheduler.sleep(2_000);
    for (const [host, open] of receivers.open) {
      const hanging = open.filter((name) => name === "hangs").length;
      if (!host.isDead && hanging > 32)
        throw new Violation(
          `${host.name} sends ${hanging} deliveries of failing channels at once, more than 32.`,
        );
    }
  }
  await scheduler.sleep(20_000);
  await change("the channels are deleted", async () => {
    await fixtures.sql.query(
      "delete from public.alert_channels where workspace_id = $1 and name like 'hangs %'",
      [team.id],
    );
  });
}

/** What is swept is swept whole, however much it is. */
export async function sweep(simulation: Simulation, team: Team): Promise<void> {
  if (team.isSweeping) return;
  team.isSweeping = true;
  await simulation.sql(
    `insert into public.deliveries (kind, workspace_id, channel_id, channel_name, channel_kind, state, created_at, delivered_at)
     select 'test', $1, gen_random_uuid(), 'Old', 'webhook', 'delivered', $2::timestamptz, $2::timestamptz from generate_series(1, 2300)`,
    [team.id, new Date(simulation.now - 31 * dayMs)],
  );
  const done = await simulation.job("sweep_deliveries");
  const [{ count }] = await simulation.sql(
    "select count(*)::int as count from public.deliveries where workspace_id = $1 and channel_name = 'Old'",
    [team.id],
  );
  team.isSweeping = false;
  if (done !== undefined && count > 0)
    throw new Violation(`${count} deliveries of more than 30 days ago are left after they were swept.`);
}

const jobs = [
  "book_subscriptions",
  "queue_due",
  "deliver",
  "deliver",
  "deliver",
  "fold_past_days",
  "fold_past_days",
  "watch_budgets",
  "judge_key_rules",
  "judge_budgets",
  "settle_alert_entries",
  "sweep_old_records",
  "price_unpriced",
  "reprice_messages",
];

/** A job, as a scheduler calls it in any process. */
export const work = async (simulation: Simulation): Promise<void> => {
  await simulation.job(simulation.random.pick(jobs));
};
