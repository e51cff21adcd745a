import { beforeAll, describe, expect, test } from "vitest";
import type { Answer } from "@/tests/helpers/client";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam, type Team } from "@/tests/helpers/team";

// Where channels may send, and what is shown of it.

const harness = withSharedHarness();

let team: Team;

beforeAll(async () => {
  team = await makeTeam(harness);
});

const channels = () => `${team.path}/alert-channels`;
const call = (method: string, path: string, body?: unknown) => team.users.admin.call(method, path, body);
const create = (body: Record<string, unknown>) => call("POST", channels(), { name: "Ours", ...body });
const codeOf = ({ status: code, body }: Answer) => `${code} ${body.error ?? "ok"}`;
const issueOf = ({ body }: Answer) => (body.issues as { path: string; message: string }[])[0];

describe("A channel", () => {
  test.each([
    [
      "webhook",
      { url: "https://Hooks.Example.com:8443/a/SECRETPART?k=SECRETPART#x" },
      "hooks.example.com:8443",
    ],
    ["slack", { url: "https://hooks.slack.com/services/T/B/SECRETPART" }, "hooks.slack.com"],
    ["discord", { url: "https://discord.com/api/webhooks/1/SECRETPART" }, "discord.com"],
    ["teams", { url: "https://x.logic.azure.com/workflows/SECRETPART?sig=SECRETPART" }, "x.logic.azure.com"],
    ["pagerduty", { routing_key: "SECRETPART0123456789012345678901", region: "eu" }, "PagerDuty (EU)"],
  ])(
    "Of the kind %s shows where it sends without the secret part, in no answer and no entry",
    async (kind, target, shown) => {
      const created = await create({ kind, ...target });
      expect([created.status, created.body.target, created.body.enabled]).toEqual([201, shown, true]);
      const { id, signing_secret: secret } = created.body;
      const answers = [
        created,
        await call("GET", `${channels()}/${id}`),
        await call("GET", channels()),
        await call("PATCH", `${channels()}/${id}`, { name: "Renamed", ...target }),
        await call("GET", `${team.path}/audit`),
        await call("DELETE", `${channels()}/${id}`),
        await call("GET", `${team.path}/audit`),
      ];
      expect(JSON.stringify(answers)).not.toContain("SECRETPART");
      expect(typeof secret).toBe(kind === "webhook" ? "string" : "object");
      if (kind === "webhook") expect(JSON.stringify(answers.slice(1))).not.toContain(secret);
      expect((await call("GET", `${channels()}/${id}`)).status).toBe(404);
      const { rows } = await harness.fixtures.sql.query(
        "select count(*)::int as left from private.channel_secrets where channel_id = $1",
        [id],
      );
      expect(rows).toEqual([{ left: 0 }]);
    },
  );

  test("Mails members only, in lower case and once each", async () => {
    const { email } = team.users.viewer;
    const created = await create({ kind: "email", addresses: [email.toUpperCase(), email] });
    expect([created.status, created.body.target]).toEqual([201, email]);
    const refused = await create({ kind: "email", addresses: [email, team.users.stranger.email] });
    expect([codeOf(refused), issueOf(refused)?.path]).toEqual(["400 validation_failed", "addresses"]);
  });

  test.each([
    ["plain http", { kind: "webhook", url: "http://hooks.example.com/" }, "url", "https"],
    ["another scheme", { kind: "slack", url: "ftp://hooks.example.com/" }, "url", "https"],
    ["no address", { kind: "slack", url: "hooks" }, "url", "https"],
    ["a password", { kind: "teams", url: "https://a:b@hooks.example.com/" }, "url", "password"],
    ["loopback in IPv6", { kind: "webhook", url: "https://[::1]/" }, "url", "internal"],
    [
      "loopback in IPv4-compatible IPv6",
      { kind: "webhook", url: "https://[::127.0.0.1]/" },
      "url",
      "internal",
    ],
    ["Azure's platform", { kind: "slack", url: "https://168.63.129.16/" }, "url", "internal"],
    ["a decimal loopback address", { kind: "webhook", url: "https://2130706434/" }, "url", "internal"],
    ["the metadata service", { kind: "webhook", url: "https://169.254.169.254/" }, "url", "internal"],
    ["an unknown kind", { kind: "fax", url: "https://hooks.example.com/" }, "kind", "must be one of"],
    ["a short routing key", { kind: "pagerduty", routing_key: "short" }, "routing_key", "32"],
    ["no rule", { kind: "webhook", url: "https://a.example/", rules: [] }, "rules", "null"],
    ["a blank name", { kind: "webhook", url: "https://a.example/", name: " " }, "name", "blank"],
  ])("Is refused with %s, naming the field", async (_, body, path, message) => {
    const before = await call("GET", channels());
    const refused = await create(body);
    expect([codeOf(refused), issueOf(refused)?.path]).toEqual(["400 validation_failed", path]);
    expect(issueOf(refused)?.message).toContain(message);
    expect((await call("GET", channels())).body).toEqual(before.body);
  });

  test("Is one of 20 at most, however many are added at once", async () => {
    const own = await makeTeam(harness);
    const added = await Promise.all(
      Array.from({ length: 24 }, (_, index) =>
        own.users.owner.call("POST", `${own.path}/alert-channels`, {
          kind: "webhook",
          name: `No. ${index}`,
          url: "https://hooks.example.com/",
        }),
      ),
    );
    expect(added.filter((answer) => answer.status === 201)).toHaveLength(20);
    expect(added.filter((answer) => codeOf(answer) === "409 conflict")).toHaveLength(4);
  });
});
