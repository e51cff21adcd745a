import { addChannel, crossing, raise } from "@/tests/helpers/alerts";
import type { World } from "../callers";
import { nothing, type Sample, type Samples } from "../sample";

/** A channel that mails the workspace's owner, which the local outbox takes. */
async function channelOf({ harness: { fixtures }, workspace, users }: World): Promise<Sample> {
  const id = await addChannel(fixtures, workspace.id, { kind: "email", target: users.owner.email });
  const remove = async () =>
    void (await fixtures.sql.query("delete from public.alert_channels where id = $1", [id]));
  return { params: { id }, restore: remove };
}

async function webhookOf({ harness: { fixtures }, workspace }: World): Promise<Sample> {
  const id = await addChannel(fixtures, workspace.id, { address: "https://receiver.example/hook" });
  return { params: { id } };
}

/** A delivery that was given up. The job would send it again, so it is deleted after a call that succeeds. */
async function deadDeliveryOf(world: World): Promise<Sample> {
  const { sql } = world.harness.fixtures;
  const { params } = await channelOf(world);
  await raise(world.harness.fixtures, crossing(world.workspace.id, { subject_id: crypto.randomUUID() }));
  const { rows } = await sql.query(
    "update public.alert_deliveries set state = 'dead', lease = null, leased_until = null where channel_id = $1 returning id",
    [params?.id],
  );
  const remove = async () =>
    void (await sql.query("delete from public.alert_channels where id = $1", [params?.id]));
  return { params: { id: rows[0].id }, restore: remove };
}

/** Alerts and their channels. */
export const alertSamples: Samples = {
  "GET /api/v1/workspaces/[slug]/alerts": nothing,
  "GET /api/v1/workspaces/[slug]/alert-channels": nothing,
  "POST /api/v1/workspaces/[slug]/alert-channels": ({ users }) => ({
    body: { kind: "email", name: "Finance", addresses: [users.owner.email] },
  }),
  "GET /api/v1/workspaces/[slug]/alert-channels/[id]": channelOf,
  "PATCH /api/v1/workspaces/[slug]/alert-channels/[id]": async (world) => ({
    ...(await channelOf(world)),
    body: { enabled: false },
  }),
  "DELETE /api/v1/workspaces/[slug]/alert-channels/[id]": channelOf,
  "POST /api/v1/workspaces/[slug]/alert-channels/[id]/rotate": webhookOf,
  "POST /api/v1/workspaces/[slug]/alert-channels/[id]/test": channelOf,
  "GET /api/v1/workspaces/[slug]/alert-channels/[id]/deliveries": channelOf,
  "POST /api/v1/workspaces/[slug]/alert-deliveries/[id]/resend": deadDeliveryOf,
};
