import { beforeAll, describe, expect, test } from "vitest";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { withHarness } from "@/tests/helpers/harness";
import { makeTeam, type Team } from "@/tests/helpers/team";
import { toolCall } from "@/tests/helpers/tool-call";
import { wrongClock } from "@/tests/helpers/wrong-clock";

// Limits use the database's clock, and reads must use the same one: otherwise a summary would show $0 at the edge of a
// month while the limit is used up, or the reverse.

const harness = withHarness();
const dayMs = 86_400_000;
let team: Team;
let secret: string;

beforeAll(async () => {
  team = await makeTeam(harness);
  const { workspace } = team;
  secret = (await harness.fixtures.key(workspace, { monthly_limit: "0.01" })).secret;
  const right = apiClient(harness.services[0]?.baseUrl ?? "", secret);
  expect((await right.post(costMessage())).status).toBe(201);
  const { owner } = team.users;
  const budget = { name: "All", scope_type: "global", amount: 1 };
  expect((await owner.call("POST", `${team.path}/budgets`, budget)).status).toBe(201);
});

describe.each([
  ["40 days ahead", 40],
  ["40 days behind", -40],
])("A service whose clock is %s", (_, days) => {
  /** What a service reports of the month and of the day. */
  async function ask(baseUrl: string) {
    const key = apiClient(baseUrl, secret);
    // A token is good for an hour of its issuer's clock.
    const { body } = await apiClient(baseUrl, null).call("POST", "/auth/v1/token?grant_type=password", {
      email: team.users.owner.email,
      password: "correct horse battery",
    });
    const owner = apiClient(baseUrl, String(body.access_token));
    const tool = toolCall("2026", "get_project_spend", { project: "checkout" });
    const answers = {
      // With an idempotency key, so that what is refused is the same after each call.
      limit: await key.post(costMessage({}, { idempotency_key: "past the limit" })),
      summary: await key.get("/api/v1/summary/month"),
      budgetStatus: await key.get("/api/v1/budgets/status"),
      spend: await key.get("/api/v1/projects/checkout/spend"),
      tool: await key.call("POST", "/api/mcp", tool.body, tool.headers),
      metrics: await owner.get(`${team.path}/metrics?period=month`),
      day: await owner.get(`${team.path}/metrics?period=day`),
      activity: await owner.get(`${team.path}/activity?period=day`),
      keys: await owner.get(`${team.path}/api-keys`),
      budgets: await owner.get(`${team.path}/budgets`),
      projects: await owner.get(`${team.path}/projects`),
    };
    const text = await fetch(`${baseUrl}${team.path}/export?period=day`, {
      headers: { authorization: `Bearer ${body.access_token}` },
    });
    return {
      token: String(body.access_token),
      ...Object.fromEntries(
        Object.entries(answers).map(([name, { status, body: said }]) => [
          name,
          { status, said: steady(said) },
        ]),
      ),
      file: text.headers.get("content-disposition"),
      lines: (await text.text()).split("\r\n").length,
    };
  }

  /** What does not differ between calls: no request ids, no service's address, and nothing that depends on the time of day. */
  const steady = (body: unknown): unknown =>
    JSON.parse(JSON.stringify(body), (name, value) =>
      ["request_id", "how_to_ask", "to_point_usd", "to_point", "last_used_at"].includes(name)
        ? undefined
        : value,
    );

  test("Reports the same month and day as one with a correct clock", async () => {
    const wrong = await harness.start(wrongClock(days));
    const { token, ...told } = await ask(wrong.baseUrl);
    const { iat } = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
    expect(Math.round((iat * 1_000 - Date.now()) / dayMs), "its clock is wrong").toBe(days);
    expect(told).toMatchObject({ limit: { status: 402 }, summary: { said: { total_usd: 0.01 } }, lines: 3 });
    const { token: _, ...right } = await ask(harness.services[0]?.baseUrl ?? "");
    expect(told).toEqual(right);
  });
});
