import { beforeEach, describe, expect, test } from "vitest";
import type { Receiver } from "@/tests/helpers/alerts";
import { slackSecret } from "@/tests/helpers/slack";
import { type SlackChannel, tokenIn, withSlackTeam } from "@/tests/helpers/slack-team";
import type { Team, User } from "@/tests/helpers/team";

const { made, harness, ask, stateOf, click, link, linkTo, sentBody } = withSlackTeam();

let slack: Receiver;
let team: Team;
let channel: SlackChannel;
beforeEach(() => {
  ({ slack, team, channel } = made());
});

describe("A link", () => {
  test("Is for members who may decide, once, for 15 minutes, and the newest one", async () => {
    const { admin, viewer, member, stranger } = team.users;
    const [older, newer] = [await click(crypto.randomUUID()), await click(crypto.randomUUID())];
    const token = tokenIn(newer.reply);
    for (const [user, given, status] of [
      [admin, tokenIn(older.reply), 404],
      [stranger, token, 404],
      [viewer, token, 403],
      [member, token, 403],
      [admin, token, 201],
      [admin, token, 404],
    ] as const)
      expect((await link(user, given)).status).toBe(status);
    const late = await click(crypto.randomUUID(), { user: "U2" });
    await harness.fixtures.sql.query(
      "update private.slack_offers set expires_at = now() where workspace_id = $1",
      [team.workspace],
    );
    expect((await link(admin, tokenIn(late.reply))).status).toBe(404);
  });

  test("Is listed for and removed by its member alone, and ends with the secret that vouched for it", async () => {
    const { admin, owner, member } = team.users;
    const id = await linkTo(owner, "U1");
    const list = async (user: User) => (await user.get(`${team.path}/slack-links`)).body.links;
    expect(await list(owner)).toMatchObject([{ id, slack_name: "u1 in example" }]);
    expect(await list(admin)).toEqual([]);
    expect((await admin.call("DELETE", `${team.path}/slack-links/${id}`)).status).toBe(404);
    expect((await owner.call("DELETE", `${team.path}/slack-links/${id}`)).status).toBe(200);
    const asked = await ask(member);
    expect(tokenIn((await click(asked.id)).reply)).not.toBe("");

    await linkTo(owner, "U1");
    const path = `${team.path}/alert-channels/${channel.id}`;
    for (const secret of [slackSecret, null]) {
      const { body } = await admin.call("PATCH", path, { signing_secret: secret });
      expect(body).toMatchObject({ has_buttons: secret !== null });
      expect(await list(owner)).toEqual([]);
      if (secret !== null) await linkTo(owner, "U1");
    }
    expect((await click(asked.id)).status).toBe(401);
    expect(await stateOf(asked.id)).toMatchObject({ state: "pending" });
  });
});

describe("A channel", () => {
  test("Never shows its secret, which is sealed, and takes it for Slack alone", async () => {
    const { admin, viewer, owner } = team.users;
    expect(channel).toMatchObject({ has_buttons: true });
    const answers = [
      channel,
      (await viewer.get(`${team.path}/alert-channels`)).body,
      (await owner.get(`${team.path}/audit?kind=alert_channel`)).body,
    ];
    expect(JSON.stringify(answers)).not.toContain(slackSecret);
    const { rows } = await harness.fixtures.sql.query(
      "select slack_secret from private.channel_secrets where channel_id = $1",
      [channel.id],
    );
    expect(rows[0].slack_secret).toMatch(/^1\.[0-9a-f]{8}\./);
    const webhook = { kind: "webhook", name: "Hook", url: slack.url };
    const { body } = await admin.call("POST", `${team.path}/alert-channels`, webhook);
    const edited = await admin.call("PATCH", `${team.path}/alert-channels/${body.id}`, {
      signing_secret: slackSecret,
    });
    expect([edited.status, edited.body.issues]).toMatchObject([400, [{ path: "signing_secret" }]]);
  });

  test("Has no buttons once whoever set its secret is no admin any more", async () => {
    const { admin, owner, member } = team.users;
    await linkTo(owner, "U1");
    await owner.call("PATCH", `${team.path}/members/${admin.id}`, { role: "member" });
    const asked = await ask(member);
    expect((await sentBody(asked.id)).blocks.at(-1)?.elements).toMatchObject([
      { text: { text: "Approve or deny" }, url: expect.stringContaining("/budgets/requests#request-") },
    ]);
    expect((await click(asked.id)).status).toBe(401);
    expect((await owner.get(`${team.path}/alert-channels/${channel.id}`)).body).toMatchObject({
      has_buttons: false,
    });
  });
});
