import { describe, expect, test } from "vitest";
import { claimDeliveries, finishDelivery, sweepDeliveries } from "@/lib/alerts/delivery/delivery-queries";
import { sweepAlerts } from "@/lib/alerts/delivery/jobs";
import { addChannel, crossing, raise } from "@/tests/helpers/alerts";
import { type OpenDeliveries, withDeliveries } from "@/tests/helpers/deliveries";

// The queue of deliveries: which process takes what, and how long rows stay.

let fixtures: OpenDeliveries["fixtures"];
let workspace: string;

const { work, raiseLevels, states } = withDeliveries((open) => {
  ({ fixtures, workspace } = open);
});

const channel = (columns: Record<string, unknown> = {}) =>
  addChannel(fixtures, workspace, { address: "https://receiver.example/hooks/T0PSECRET", ...columns });

describe("The queue", () => {
  const places = { all: 64, failing: 32, channel: 4 };

  test("Gives a delivery to one process at a time, and again when the lease of a process that was killed ends", async () => {
    const id = await channel();
    await raiseLevels("80");
    const claims = await Promise.all([claimDeliveries(places, 40), claimDeliveries(places, 40)]);
    expect(claims.flat()).toHaveLength(1);
    await fixtures.sql.query(
      "update public.alert_deliveries set leased_until = now() where channel_id = $1",
      [id],
    );
    const [again] = await claimDeliveries(places, 40);
    const [first] = claims.flat();
    expect([again?.id, again?.attempts]).toEqual([first?.id, 2]);
    const ended = { outcome: "delivered", status: 204, error: null, retry_in_ms: 0 } as const;
    const finish = (claimed: typeof first) =>
      claimed && finishDelivery({ workspace_id: workspace, id: claimed.id, lease: claimed.lease, ...ended });
    expect([await finish(first), await finish(again), await finish(again)]).toEqual([
      null,
      "delivered",
      null,
    ]);
  });

  test("Gives channels that fail one place each, and the others four", async () => {
    await channel();
    await channel({ failing_since: new Date() });
    await raise(
      fixtures,
      ...Array.from({ length: 10 }, (_, index) => crossing(workspace, { subject_id: `b${index}` })),
    );
    const claimed = [...(await claimDeliveries(places, 40)), ...(await claimDeliveries(places, 40))];
    expect(claimed.filter(({ channel: each }) => each.is_failing)).toHaveLength(1);
    expect(claimed.filter(({ channel: each }) => !each.is_failing)).toHaveLength(4);
  });

  test("Gives channels that fail so many places together, also over all of them, and the rest to others", async () => {
    for (let index = 0; index < 5; index += 1) await channel({ failing_since: new Date() });
    await channel();
    await raise(
      fixtures,
      ...Array.from({ length: 3 }, (_, index) => crossing(workspace, { subject_id: `b${index}` })),
    );
    const few = { all: 64, failing: 2, channel: 4 };
    const failing = (claimed: Awaited<ReturnType<typeof claimDeliveries>>) =>
      [true, false].map((is) => claimed.filter(({ channel: each }) => each.is_failing === is).length);
    expect(failing(await claimDeliveries(few, 40))).toEqual([2, 3]);
    expect(failing(await claimDeliveries({ ...few, failing: 0 }, 40))).toEqual([0, 0]);
    expect(failing(await claimDeliveries({ ...few, all: 1 }, 40))).toEqual([1, 0]);
  });

  test("Is swept in steps of so many, and all of it by the job", async () => {
    const id = await channel();
    const levels = ["50", "60", "70", "80", "90"];
    await raiseLevels(...levels);
    await work();
    const age = () =>
      fixtures.sql.query(
        "update public.alert_deliveries set created_at = now() - interval '31 days' where workspace_id = $1",
        [workspace],
      );
    await age();
    expect([await sweepDeliveries(2), (await states(id)).length]).toEqual([2, 3]);
    await raiseLevels("91", "92", "93");
    await fixtures.sql.query("delete from public.alert_channels where id = $1", [id]);
    // Of what nobody will send, too.
    await fixtures.sql.query(
      "update public.alert_deliveries set state = 'pending' where workspace_id = $1 and state = 'cancelled'",
      [workspace],
    );
    expect(await sweepDeliveries(2)).toBe(4);
    await age();
    await sweepAlerts();
    await sweepAlerts();
    expect(await states(id)).toEqual([]);
  });

  test("Is swept: the log after 30 days, and what nobody will send", async () => {
    const kept = await channel();
    const off = await channel({ disabled_at: new Date(), disabled_reason: "failing" });
    const gone = await channel();
    await raiseLevels("50");
    await fixtures.sql.query("delete from public.alert_channels where id = $1", [gone]);
    await work();
    await fixtures.sql.query(
      "update public.alert_deliveries set give_up_at = now() - interval '1 second' where channel_id = $1",
      [off],
    );
    await sweepAlerts();
    expect([await states(kept), await states(off), await states(gone)]).toEqual([
      ["50 delivered"],
      ["50 dead"],
      ["50 cancelled"],
    ]);
    await fixtures.sql.query(
      "update public.alert_deliveries set created_at = now() - interval '30 days' where workspace_id = $1",
      [workspace],
    );
    await sweepAlerts();
    expect([await states(kept), await states(off), await states(gone)]).toEqual([[], [], []]);
  });
});
