import { addChannel, crossing, raiseLasting } from "@/tests/helpers/alerts";
import type { Caller, World } from "../callers";
import { deleted } from "../deleted";
import { nothing, type Sample, type Samples } from "../sample";

/** Removes the channels of the samples before: the job would go on delivering, and a workspace may have 20 at most. */
async function clear({ harness, workspace }: World): Promise<void> {
  const { sql } = harness.fixtures;
  await sql.query("delete from public.alert_channels where workspace_id = $1", [workspace.id]);
  await sql.query("delete from public.deliveries where workspace_id = $1", [workspace.id]);
}

/** A channel that mails the workspace's owner, which the local outbox takes. */
async function channelOf(world: World): Promise<Sample & { params: { id: string } }> {
  const { harness, workspace, users } = world;
  await clear(world);
  const columns = { kind: "email", target: users.owner.email };
  const id = await addChannel(harness.fixtures, workspace.id, columns);
  return { params: { id }, restore: () => clear(world) };
}

async function webhookOf(world: World): Promise<Sample> {
  const { harness, workspace } = world;
  await clear(world);
  const id = await addChannel(harness.fixtures, workspace.id, { address: "https://receiver.example/hook" });
  return { params: { id } };
}

/** A delivery that was given up. */
async function deadDeliveryOf(world: World): Promise<Sample> {
  const { fixtures } = world.harness;
  const { params, restore } = await channelOf(world);
  await raiseLasting(fixtures, crossing(world.workspace.id, { subject_id: crypto.randomUUID() }));
  const { rows } = await fixtures.sql.query(
    `update public.deliveries set state = 'dead', lease = null, leased_until = null
     where channel_id = $1 returning id`,
    [params.id],
  );
  return { params: { id: rows[0].id }, ...(restore && { restore }) };
}

/** A rule that is snoozed. */
async function snoozeOf({ harness, workspace }: World): Promise<Sample> {
  const { rows } = await harness.fixtures.sql.query(
    `insert into public.alert_snoozes (workspace_id, rule, until) values ($1, 'silent_source', now() + interval '1 day')
     on conflict (workspace_id, rule, subject_id) do update set until = excluded.until returning id`,
    [workspace.id],
  );
  return { params: { id: rows[0].id } };
}

/** An entry of the inbox. */
async function entryOf({ harness, workspace }: World): Promise<Sample> {
  const subject = crypto.randomUUID();
  await raiseLasting(harness.fixtures, crossing(workspace.id, { subject_id: subject }));
  const { rows } = await harness.fixtures.sql.query(
    "select id from public.alert_entries where workspace_id = $1 and subject_id = $2",
    [workspace.id, subject],
  );
  return { params: { id: rows[0].id } };
}

/** A Slack user who is linked to the caller, or to the owner for callers who are no members. */
async function slackLinkOf(world: World, caller: Caller): Promise<Sample> {
  const { harness, workspace, users } = world;
  await clear(world);
  const channel = await addChannel(harness.fixtures, workspace.id, { kind: "slack" });
  const { rows } = await harness.fixtures.sql.query(
    `insert into public.slack_links (workspace_id, channel_id, slack_team, slack_user, slack_name, user_id, aal)
     values ($1, $2, 'T1', 'U1', 'ada', $3, 'aal1') returning id`,
    [workspace.id, channel, (users[caller as keyof World["users"]] ?? users.owner).id],
  );
  return { params: { id: rows[0].id }, restore: () => clear(world) };
}

/** An offer to link a Slack user, in a workspace of the caller's own. */
async function slackOfferOf({ harness, users, credentials }: World, caller: Caller): Promise<Sample> {
  const { fixtures } = harness;
  const own = await fixtures.workspace(`w-${crypto.randomUUID()}`);
  const channel = await addChannel(fixtures, own, { kind: "slack" });
  const [, payload = ""] = (credentials[caller] ?? "").split(".");
  const claims = Buffer.from(payload, "base64url").toString();
  await fixtures.sql.query(
    "insert into public.workspace_members (workspace_id, user_id, role) values ($1, $2, 'owner')",
    [own, claims.startsWith("{") ? JSON.parse(claims).sub : users.owner.id],
  );
  const token = crypto.randomUUID();
  await fixtures.sql.query(
    `insert into private.slack_offers (workspace_id, channel_id, slack_team, slack_user, slack_name, hash, expires_at)
     values ($1, $2, 'T1', 'U1', 'ada', sha256(convert_to($3, 'utf8')), now() + interval '15 minutes')`,
    [own, channel, token],
  );
  return { body: { token } };
}

/** Ends the subscriptions of a workspace's members. */
async function endReports({ harness, workspace }: World): Promise<void> {
  await harness.fixtures.sql.query("delete from public.weekly_reports where workspace_id = $1", [
    workspace.id,
  ]);
}

/** Alerts, their channels, and the weekly report. */
export const alertSamples: Samples = {
  "GET /api/v1/workspaces/[slug]/alerts": nothing,
  "GET /api/v1/workspaces/[slug]/alerts/inbox": nothing,
  "GET /api/v1/workspaces/[slug]/alerts/inbox/[id]": entryOf,
  "PATCH /api/v1/workspaces/[slug]/alerts/inbox/[id]": async (world) => ({
    ...(await entryOf(world)),
    body: { resolved: true },
  }),
  "GET /api/v1/workspaces/[slug]/alerts/news": nothing,
  "POST /api/v1/workspaces/[slug]/alerts/seen": async ({ harness, workspace }) => {
    await raiseLasting(harness.fixtures, crossing(workspace.id, { subject_id: crypto.randomUUID() }));
    const { rows } = await harness.fixtures.sql.query(
      "select id from public.alerts where workspace_id = $1 order by number desc limit 1",
      [workspace.id],
    );
    return { body: { alert_id: rows[0].id } };
  },
  "GET /api/v1/workspaces/[slug]/weekly-report": nothing,
  "PUT /api/v1/workspaces/[slug]/weekly-report": (world) => ({
    body: { enabled: true, time_zone: "Europe/Berlin" },
    restore: () => endReports(world),
  }),
  "POST /api/v1/workspaces/[slug]/weekly-report/send": () => ({ body: {} }),
  "POST /api/v1/weekly-report/end": () => ({ query: `?token=${"x".repeat(43)}` }),
  "GET /api/v1/workspaces/[slug]/slack-links": nothing,
  "DELETE /api/v1/workspaces/[slug]/slack-links/[id]": slackLinkOf,
  "POST /api/v1/slack/links": slackOfferOf,
  "GET /api/v1/workspaces/[slug]/alert-channels": nothing,
  "POST /api/v1/workspaces/[slug]/alert-channels": async (world) => {
    await clear(world);
    return { body: { kind: "email", name: "Finance", addresses: [world.users.owner.email] } };
  },
  "GET /api/v1/workspaces/[slug]/alert-channels/[id]": channelOf,
  "PATCH /api/v1/workspaces/[slug]/alert-channels/[id]": async (world) => ({
    ...(await channelOf(world)),
    body: { enabled: false },
  }),
  "DELETE /api/v1/workspaces/[slug]/alert-channels/[id]": channelOf,
  "POST /api/v1/workspaces/[slug]/alert-channels/[id]/restore": async (world) =>
    deleted(world, "alert-channels", await channelOf(world)),
  "POST /api/v1/workspaces/[slug]/alert-channels/[id]/rotate": webhookOf,
  "POST /api/v1/workspaces/[slug]/alert-channels/[id]/test": channelOf,
  "GET /api/v1/workspaces/[slug]/alert-channels/[id]/deliveries": channelOf,
  "POST /api/v1/workspaces/[slug]/alert-deliveries/[id]/resend": deadDeliveryOf,
  "GET /api/v1/workspaces/[slug]/alert-rules": nothing,
  "PATCH /api/v1/workspaces/[slug]/alert-rules/[rule]": async () => ({
    params: { rule: "key_limit" },
    body: { parameter: 90 },
  }),
  "POST /api/v1/workspaces/[slug]/alert-snoozes": async () => ({
    body: { rule: "key_limit", until: new Date(Date.now() + 86_400_000).toISOString() },
  }),
  "DELETE /api/v1/workspaces/[slug]/alert-snoozes/[id]": snoozeOf,
};
