import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openReceiver, type Receiver } from "@/tests/helpers/alerts";
import { blockingBudgetsOf } from "@/tests/helpers/blocking-budgets";
import { apiClient } from "@/tests/helpers/client";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { clickPayload, formOf, postInteraction, signAsSlack, slackSecret } from "@/tests/helpers/slack";
import { makeTeam, type Team, type User } from "@/tests/helpers/team";

const harness = withSharedHarness({ services: 2, settings: { ALERT_ALLOWED_HOSTS: "127.0.0.1" } });

let slack: Receiver;
beforeAll(async () => {
  slack = await openReceiver();
});
afterAll(() => slack.close());

let team: Team;
let channel: { id: string; interactivity_url: string; has_buttons: boolean };
let budget: { id: string };
const { create, read } = blockingBudgetsOf(() => team);

const dayIn = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const lastDay = dayIn(5);

type Asked = { id: string; state: string; decision: Record<string, unknown> | null };
const ask = async (user: User, more: object = {}): Promise<Asked> => {
  const request = { budget_id: budget.id, amount: 2.5, reason: "A launch", until: lastDay, ...more };
  const { status, body } = await user.call("POST", `${team.path}/budget-requests`, request);
  expect(status).toBe(201);
  return body as Asked;
};
const stateOf = async (id: string): Promise<Asked | undefined> => {
  const { body } = await team.users.owner.get(`${team.path}/budget-requests`);
  return (body.requests as Asked[]).find((each) => each.id === id);
};
const channelOf = async (user: User, path: string, more: object = {}) => {
  const { status, body } = await user.call("POST", `${path}/alert-channels`, {
    kind: "slack",
    name: "Chat",
    url: slack.url,
    signing_secret: slackSecret,
    ...more,
  });
  expect(status).toBe(201);
  return body as typeof channel;
};

/** What Slack was told by the `response_url` of a click. */
type Reply = { text: string; response_type?: string; replace_original: boolean };

/** Clicks as a Slack user, and returns the status and the reply. */
async function click(
  id: string,
  {
    user = "U1",
    until = lastDay,
    ...changes
  }: { user?: string; until?: string; [part: string]: unknown } = {},
  url = channel.interactivity_url,
): Promise<{ status: number; text: string; reply: Reply | undefined }> {
  const path = `/actions/${crypto.randomUUID()}`;
  const body = formOf(
    clickPayload(`${id} ${until}`, `http://127.0.0.1:${slack.port}${path}`, {
      user: { id: user, username: user.toLowerCase() },
      ...changes,
    }),
  );
  const answer = await postInteraction(url, body, signAsSlack(body));
  const sent = slack.received.find((each) => each.path === path);
  return { ...answer, reply: sent && JSON.parse(sent.body) };
}

/** The token of the link in a reply. */
const tokenIn = (reply: Reply | undefined): string =>
  /slack\?token=([\w-]+)\|/.exec(reply?.text ?? "")?.[1] ?? "";
const link = (user: User, token: string) => user.call("POST", "/api/v1/slack/links", { token });

/** Links a Slack user to a member, as they do: by a click and the link in the answer. */
async function linkTo(user: User, slackUser: string): Promise<string> {
  const { reply } = await click(crypto.randomUUID(), { user: slackUser });
  const { status, body } = await link(user, tokenIn(reply));
  expect(status).toBe(201);
  return String(body.id);
}

beforeEach(async () => {
  team = await makeTeam(harness);
  channel = await channelOf(team.users.admin, team.path);
  budget = await create({ amount: 10, warns: { people: [], channels: [channel.id] } });
});

describe("A click", () => {
  test("Of a Slack user who is linked to nobody is answered with a link; then it approves as the member", async () => {
    const { admin, member } = team.users;
    const asked = await ask(member);
    const message = await sentTo(asked.id);
    expect(message).toMatchObject({ text: { text: expect.stringMatching(/^Approve \$2\.50 until /) } });

    const first = await click(asked.id);
    expect([first.status, first.text]).toEqual([200, ""]);
    expect(first.reply).toMatchObject({ response_type: "ephemeral", replace_original: false });
    expect(await stateOf(asked.id)).toMatchObject({ state: "pending" });

    const { status, body } = await link(admin, tokenIn(first.reply));
    expect([status, body]).toMatchObject([201, { slack_name: "u1 in example", channel_name: "Chat" }]);
    expect(await stateOf(asked.id)).toMatchObject({ state: "pending" });

    const [id, until] = message.value.split(" ");
    const { reply } = await click(id ?? "", { until: until ?? "" });
    expect(reply).toMatchObject({
      replace_original: true,
      text: expect.stringContaining("approved $2.50 more"),
    });
    expect(await stateOf(asked.id)).toMatchObject({
      state: "approved",
      decision: { amount: 2.5, until: lastDay, by: { id: admin.id }, in_slack: true },
    });
    expect(await read(budget.id)).toMatchObject({ amount: 12.5, raise: { until: lastDay } });
    const { body: log } = await admin.get(`${team.path}/audit?kind=budget_request`);
    expect(log.entries).toMatchObject([
      {
        action: "budget_request.changed",
        actor: { user_id: admin.id },
        address: "Slack",
        after: { slack_user: "T9TK3CUKW U1" },
      },
      { action: "budget_request.created" },
    ]);
  });

  test("Decides once, by eight clicks of two people at once on two processes", async () => {
    const { admin, owner, member } = team.users;
    await linkTo(admin, "U1");
    await linkTo(owner, "U2");
    const asked = await ask(member);
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, index) => {
        const base = harness.services[index % 2]?.baseUrl ?? "";
        const url = base + new URL(channel.interactivity_url).pathname;
        return click(asked.id, { user: index % 3 === 0 ? "U1" : "U2" }, url);
      }),
    );
    expect(replies.filter(({ reply }) => reply?.replace_original === true)).toHaveLength(1);
    expect(replies.filter(({ reply }) => reply?.text.includes("is approved already"))).toHaveLength(7);
    expect(await read(budget.id)).toMatchObject({ amount: 12.5 });
  });

  test("Decides nothing for the author, a demoted or removed approver, another workspace or beyond what is shown", async () => {
    const { admin, owner, member } = team.users;
    await linkTo(admin, "U1");
    const own = await ask(admin);
    expect((await click(own.id)).reply?.text).toContain("This is your own request");

    const asked = await ask(member);
    const elsewhere = await makeTeam(harness);
    const theirs = await channelOf(elsewhere.users.admin, elsewhere.path);
    const { reply } = await click(asked.id, {}, theirs.interactivity_url);
    const ofThem = await link(elsewhere.users.admin, tokenIn(reply));
    expect(ofThem.status).toBe(201);
    expect((await click(asked.id, {}, theirs.interactivity_url)).reply?.text).toContain("does not exist");

    // A raise that ends on another day than the button says.
    await owner.call("POST", `${team.path}/budget-requests/${own.id}/decision`, {
      decision: "approve",
      until: dayIn(2),
    });
    expect((await click(asked.id)).reply?.text).toContain(`must be ${dayIn(2)}`);

    const role = (to: string) =>
      owner.call("PATCH", `${team.path}/members/${admin.id}`, { role: to }).then(({ status }) => status);
    // The owner sets the secret anew: that of an admin who is demoted takes no clicks.
    const set = await owner.call("PATCH", `${team.path}/alert-channels/${channel.id}`, {
      signing_secret: slackSecret,
    });
    expect(set.status).toBe(200);
    await linkTo(admin, "U1");
    expect(await role("viewer")).toBe(200);
    expect((await click(asked.id)).reply?.text).toContain("Owners and admins of the workspace decide");
    await owner.call("DELETE", `${team.path}/members/${admin.id}`);
    expect(tokenIn((await click(asked.id)).reply)).not.toBe("");
    expect(await stateOf(asked.id)).toMatchObject({ state: "pending" });
  });

  test("Decides nothing where the workspace requires a second factor, or the member has set one up since", async () => {
    const { admin, member } = team.users;
    await linkTo(admin, "U1");
    const asked = await ask(member);
    await harness.fixtures.sql.query("update public.workspaces set require_mfa = true where id = $1", [
      team.workspace,
    ]);
    expect((await click(asked.id)).reply?.text).toContain("requires two-factor authentication");
    await harness.fixtures.sql.query("update public.workspaces set require_mfa = false where id = $1", [
      team.workspace,
    ]);
    await harness.fixtures.sql.query(
      `insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, created_at, updated_at, secret)
       values (gen_random_uuid(), $1, 'Phone', 'totp', 'verified', now(), now(), 'JBSWY3DPEHPK3PXP')`,
      [admin.id],
    );
    expect((await click(asked.id)).reply?.text).toContain("Not approved");
    expect(await stateOf(asked.id)).toMatchObject({ state: "pending" });
  });
});

describe("A request of Slack", () => {
  test("Is refused alike if it is forged, old, repeated, signed for another channel or for none", async () => {
    await linkTo(team.users.admin, "U1");
    const asked = await ask(team.users.member);
    const other = await channelOf(team.users.admin, team.path, { signing_secret: "1".repeat(32) });
    const plain = await channelOf(team.users.admin, team.path, { signing_secret: undefined });
    const url = channel.interactivity_url;
    const body = () =>
      formOf(
        clickPayload(`${asked.id} ${lastDay}`, `http://127.0.0.1:${slack.port}/never`, {
          user: { id: "U1", username: "u1" },
        }),
      );
    const now = Math.floor(Date.now() / 1000);
    const attempts: [string, string, Record<string, string>][] = [];
    const attempt = (to: string, text: string, headers: Record<string, string>) =>
      attempts.push([to, text, headers]);
    const text = body();
    attempt(url, text, {});
    attempt(url, text, signAsSlack(text, "0".repeat(32)));
    attempt(url, text, signAsSlack(`${text} `));
    attempt(url, text, signAsSlack(text, slackSecret, now - 301));
    attempt(url, text, signAsSlack(text, slackSecret, now + 330));
    attempt(url, text, { ...signAsSlack(text), "X-Slack-Request-Timestamp": String(now - 1) });
    attempt(url, text, { ...signAsSlack(text), "X-Slack-Signature": "v0=" });
    attempt(other.interactivity_url, text, signAsSlack(text));
    attempt(plain.interactivity_url, text, signAsSlack(text));
    attempt(url.replace(channel.id, crypto.randomUUID()), text, signAsSlack(text));
    attempt(url.replace(channel.id, "nothing"), text, signAsSlack(text));
    const answers = await Promise.all(attempts.map((each) => postInteraction(...each)));
    expect(answers.map(({ status }) => status)).toEqual(attempts.map(() => 401));
    expect(new Set(answers.map(({ text: said }) => JSON.parse(said).error_description)).size).toBe(1);
    expect(await stateOf(asked.id)).toMatchObject({ state: "pending" });

    const again = body();
    const headers = signAsSlack(again);
    const twice = await Promise.all([
      postInteraction(url, again, headers),
      postInteraction(url, again, headers),
    ]);
    expect(twice.map(({ status }) => status).sort()).toEqual([200, 401]);
    expect((await postInteraction(url, again, headers)).status).toBe(401);
    expect(await read(budget.id)).toMatchObject({ amount: 12.5 });
  });

  test("Is refused without an effect if it is malformed or too long, or names another place to answer", async () => {
    await linkTo(team.users.admin, "U1");
    const asked = await ask(team.users.member);
    const url = channel.interactivity_url;
    const value = `${asked.id} ${lastDay}`;
    const hook = `http://127.0.0.1:${slack.port}/never`;
    const send = async (body: string) => (await postInteraction(url, body, signAsSlack(body))).status;
    for (const body of [
      "",
      "payload=",
      "payload=%7B",
      "payload=null",
      "payload=[]",
      formOf({ type: "block_actions" }),
      formOf(clickPayload("", hook)),
      formOf(clickPayload("x".repeat(36), hook)),
      formOf(clickPayload(value, hook, { actions: [] })),
      formOf(clickPayload(value, hook, { user: { id: "" } })),
      formOf(clickPayload(value, hook, { team: { id: "T 1" } })),
      ...[
        "http://hooks.slack.com/actions/1",
        "https://hooks.slack.com.example.com/actions/1",
        "https://hooks.slack.com:8443/actions/1",
        "https://user@hooks.slack.com/actions/1",
        "https://169.254.169.254/latest",
        "http://localhost/actions/1",
        "file:///etc/passwd",
        "hooks.slack.com",
      ].map((to) => formOf(clickPayload(value, to))),
    ])
      expect([body.slice(0, 60), await send(body)]).toEqual([body.slice(0, 60), 400]);
    expect(await send(`${formOf(clickPayload(value, hook))}&${"x".repeat(64 * 1024)}`)).toBe(413);
    // Other interactions of the app are acknowledged.
    expect(await send(formOf({ type: "shortcut" }))).toBe(200);
    expect(await send(formOf(clickPayload(value, hook, { actions: [{ action_id: "open" }] })))).toBe(200);
    expect(await stateOf(asked.id)).toMatchObject({ state: "pending" });
    expect(
      (await apiClient(harness.services[0]?.baseUrl ?? "", null).get(new URL(url).pathname)).status,
    ).toBe(405);
  });
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

type Button = { value: string; text: { text: string }; url?: string };

/** The message about a request that the channel was sent. */
async function sentBody(id: string): Promise<{ blocks: { elements?: Button[] }[] }> {
  const find = () => slack.received.find(({ path, body }) => path === "/hook" && body.includes(id));
  await expect.poll(find, { timeout: 15_000 }).toBeDefined();
  return JSON.parse(find()?.body ?? "");
}

/** The button of that message that approves. */
async function sentTo(id: string): Promise<Button> {
  const button = (await sentBody(id)).blocks.at(-1)?.elements?.[0];
  if (!button) throw new Error("The message has no button.");
  return button;
}
