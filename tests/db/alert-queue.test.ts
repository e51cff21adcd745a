import { describe, expect, test } from "vitest";
import { sweepAlerts } from "@/lib/alerts/delivery/jobs";
import { claimDeliveries, finishDelivery } from "@/lib/alerts/delivery/queries";
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
