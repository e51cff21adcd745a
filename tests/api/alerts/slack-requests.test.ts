import { beforeEach, describe, expect, test } from "vitest";
import type { Receiver } from "@/tests/helpers/alerts";
import { apiClient } from "@/tests/helpers/client";
import { clickPayload, formOf, postInteraction, signAsSlack, slackSecret } from "@/tests/helpers/slack";
import { lastDay, type SlackChannel, withSlackTeam } from "@/tests/helpers/slack-team";
import type { Team } from "@/tests/helpers/team";

const { made, harness, read, ask, stateOf, channelOf, linkTo } = withSlackTeam();

let slack: Receiver;
let team: Team;
let channel: SlackChannel;
let budget: { id: string };
beforeEach(() => {
  ({ slack, team, channel, budget } = made());
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
