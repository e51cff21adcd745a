import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { openReceiver, type Receiver } from "@/tests/helpers/alerts";
import { blockingBudgetsOf } from "@/tests/helpers/blocking-budgets";
import { withHarness } from "@/tests/helpers/harness";
import { clickPayload, formOf, postInteraction, signAsSlack, slackSecret } from "@/tests/helpers/slack";
import { makeTeam, type Team, type User } from "@/tests/helpers/team";

/** The day that many days from now, so that no test depends on when it runs. */
export const dayIn = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
/** The last day of the raises that are asked for. */
export const lastDay = dayIn(5);

/** A channel of Slack that takes clicks. */
export type SlackChannel = { id: string; interactivity_url: string; has_buttons: boolean };

/** A request, as its answer has it. */
export type Asked = { id: string; state: string; decision: Record<string, unknown> | null };
/** What Slack was told by the `response_url` of a click. */
export type Reply = { text: string; response_type?: string; replace_original: boolean };

/** A button of a message. */
export type Button = {
  value: string;
  text: { text: string };
  confirm: { text: { text: string } };
  url?: string;
};

/** The token of the link in a reply. */
export const tokenIn = (reply: Reply | undefined): string =>
  /slack\?token=([\w-]+)\|/.exec(reply?.text ?? "")?.[1] ?? "";
/**
 * Two services, and for each test a team with a channel of Slack, whose messages a receiver takes, and a budget for $10 that warns it.
 * `made` returns what the present test has; the rest acts on it.
 */
export function withSlackTeam() {
  const harness = withHarness({ services: 2, settings: { ALERT_ALLOWED_HOSTS: "127.0.0.1" } });
  let slack: Receiver;
  beforeAll(async () => {
    slack = await openReceiver();
  });
  afterAll(() => slack.close());
  let team: Team;
  let channel: SlackChannel;
  let budget: { id: string };
  const { create, read } = blockingBudgetsOf(() => team);
  beforeEach(async () => {
    team = await makeTeam(harness);
    channel = await channelOf(team.users.admin, team.path);
    budget = await create({ amount: 10, warns: { people: [], channels: [channel.id] } });
  });
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
    return body as SlackChannel;
  };

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

  const link = (user: User, token: string) => user.call("POST", "/api/v1/slack/links", { token });

  /** Links a Slack user to a member, as they do: by a click and the link in the answer. */
  async function linkTo(user: User, slackUser: string): Promise<string> {
    const { reply } = await click(crypto.randomUUID(), { user: slackUser });
    const { status, body } = await link(user, tokenIn(reply));
    expect(status).toBe(201);
    return String(body.id);
  }

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
  const made = () => ({ slack, team, channel, budget });
  return { harness, made, read, ask, stateOf, channelOf, click, link, linkTo, sentBody, sentTo };
}
