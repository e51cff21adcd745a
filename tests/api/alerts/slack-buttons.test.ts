import { beforeEach, describe, expect, test } from "vitest";
import { slackSecret } from "@/tests/helpers/slack";
import { dayIn, lastDay, type SlackChannel, tokenIn, withSlackTeam } from "@/tests/helpers/slack-team";
import { makeTeam, type Team } from "@/tests/helpers/team";

const { made, harness, read, ask, stateOf, channelOf, click, link, linkTo, sentTo } = withSlackTeam();

let team: Team;
let channel: SlackChannel;
let budget: { id: string };
beforeEach(() => {
  ({ team, channel, budget } = made());
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

  test("Raises the monthly limit of a key, as the button says, for who made it only within half of it", async () => {
    const { admin, colleague, member } = team.users;
    const made = await member.call("POST", `${team.path}/api-keys`, {
      ...{ name: "Nightly jobs", permissions: ["log_usage"], monthly_limit: 4 },
    });
    const asked = await ask(colleague, { budget_id: undefined, key_id: made.body.id });
    const message = await sentTo(asked.id);
    expect(message.confirm.text.text).toMatch(
      /^The monthly limit of the key Nightly jobs is raised by \$2\.50 until /,
    );
    await linkTo(member, "U1");
    await linkTo(admin, "U2");
    const { reply } = await click(asked.id, { user: "U1" });
    expect(reply?.text).toContain("at most 2, the most that the member who made the key may still grant");
    expect(await stateOf(asked.id)).toMatchObject({ state: "pending" });
    expect((await click(asked.id, { user: "U2" })).reply).toMatchObject({
      replace_original: true,
      text: expect.stringContaining("approved $2.50 more of the monthly limit of the key Nightly jobs"),
    });
    const { body } = await admin.get(`${team.path}/api-keys`);
    expect(body.api_keys).toMatchObject([{ monthly_limit: 4, raise: { amount: 6.5, until: lastDay } }]);
  });
});
