import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { codeOf, type Key, manageKeys } from "@/tests/helpers/api-keys";
import { costMessage } from "@/tests/helpers/client";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam, type Team } from "@/tests/helpers/team";

const harness = withSharedHarness();
const baseUrl = () => harness.services[0]?.baseUrl ?? "";

let team: Team;
let projects: { checkout: string; search: string; foreign: string };

beforeAll(async () => {
  team = await makeTeam(harness);
  const elsewhere = await harness.fixtures.workspace();
  projects = {
    checkout: await harness.fixtures.project(team.workspace, "checkout"),
    search: await harness.fixtures.project(team.workspace, "search"),
    foreign: await harness.fixtures.project(elsewhere, "foreign"),
  };
});

const { keys, create, created, edit, listed, using } = manageKeys(() => team, baseUrl);

/** Removes the owner's hourly quota of new secrets, which this file would exceed. */
const forgetThrottle = () => harness.fixtures.sql.query("delete from private.throttle_windows");

describe("A new key", () => {
  test("Has all requested settings, works at once, and shows its secret once", async () => {
    const answer = await create({
      name: "Checkout service",
      permissions: ["read_summaries", "log_usage"],
      project_id: projects.checkout,
      conditions: {
        project_slugs: ["search"],
        deny_project_slugs: ["checkout"],
        features: ["chat"],
        sources: ["api"],
        users: [],
      },
      monthly_limit: 50.1,
      expires_at: "2127-03-01T00:00:00+01:00",
      rate_limit_rpm: 600,
      allowed_cidrs: ["127.0.0.1", "2001:DB8::5/32", "127.0.0.1/32"],
    });
    expect(answer.status).toBe(201);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const { secret, ...key } = answer.body as Key;
    expect(secret).toMatch(/^svc_live_[0-9A-Za-z]{38}$/);
    expect(key).toEqual({
      id: expect.any(String),
      kind: "key",
      name: "Checkout service",
      prefix: secret.slice(0, 13),
      last_four: secret.slice(-4),
      permissions: ["log_usage", "read_summaries"],
      project_id: projects.checkout,
      project: { slug: "checkout", name: "checkout" },
      conditions: {
        project_slugs: ["search"],
        deny_project_slugs: ["checkout"],
        features: ["chat"],
        sources: ["api"],
        users: [],
      },
      on_limit: "refuse",
      monthly_limit: 50.1,
      raise: null,
      spent: 0,
      expires_at: "2127-02-28T23:00:00.000+00:00",
      rate_limit_rpm: 600,
      allowed_cidrs: ["127.0.0.1/32", "2001:db8::/32"],
      environment: "live",
      status: "active",
      revoked_at: null,
      rotated_at: null,
      source: null,
      last_used_at: null,
      created_at: expect.any(String),
      created_by: { id: team.users.owner.id, name: null, email: team.users.owner.email },
      can_edit: true,
      summary:
        "May log usage and read summaries in checkout, with the feature chat, with the source api, up to $50.10 a month, at most 600 requests a minute, from 127.0.0.1/32 or 2001:db8::/32, until 28 February 2127 at 23:00 UTC.",
    });
    expect((await using({ secret }).post(costMessage({ feature: "chat" }))).status).toBe(201);
    const all = JSON.stringify((await team.users.owner.get(keys())).body);
    expect(all).toContain(key.id);
    expect(all).not.toContain(secret);
    expect(all).not.toContain(`"secret"`);
  });

  test("Is unrestricted where a field is absent or null", async () => {
    const nothing = {
      project_id: null,
      conditions: { project_slugs: [], deny_project_slugs: [], features: [], sources: [], users: [] },
      monthly_limit: null,
      expires_at: null,
      rate_limit_rpm: null,
      allowed_cidrs: [],
      environment: "live",
    };
    expect(await created()).toMatchObject(nothing);
    const nulls = Object.fromEntries(
      Object.keys(nothing).flatMap((name) => (name === "environment" ? [] : [[name, null]])),
    );
    expect(await created(nulls)).toMatchObject(nothing);
  });

  test("Reads and writes only test data in the environment test", async () => {
    const key = await created({ environment: "test" });
    expect(key).toMatchObject({ environment: "test", summary: expect.stringContaining("as test data") });
    await using(key).post(costMessage({}, { project: "trial" }));
    const { rows } = await harness.fixtures.sql.query(
      "select distinct environment from public.messages where api_key_id = $1",
      [key.id],
    );
    expect(rows).toEqual([{ environment: "test" }]);
  });

  test("Records nothing with a limit of 0", async () => {
    const key = await created({ monthly_limit: 0 });
    expect(codeOf(await using(key).post(costMessage()))).toBe("402 monthly_limit_exceeded");
    expect(codeOf(await using(key).post(costMessage({ estimated_cost: 0 })))).toBe(
      "402 monthly_limit_exceeded",
    );
  });

  test("Accepts projects that do not exist yet and applies them from the first message on", async () => {
    const only = await created({ conditions: { project_slugs: ["announced"] } });
    const except = await created({ conditions: { deny_project_slugs: ["announced"] } });
    const post = (key: Key, project: string) => using(key).post(costMessage({}, { project }));
    const spend = async (key: Key) => codeOf(await using(key).get("/api/v1/projects/announced/spend"));
    expect(codeOf(await post(except, "announced"))).toBe("403 project_not_allowed");
    expect(await spend(only)).toBe("404 not_found");
    expect(codeOf(await post(only, "checkout"))).toBe("403 project_not_allowed");
    expect((await post(only, "announced")).status).toBe(201);
    expect(codeOf(await post(except, "announced"))).toBe("403 project_not_allowed");
    expect([await spend(only), await spend(except)]).toEqual(["200 ok", "404 not_found"]);
    expect((await edit(only.id, { conditions: { project_slugs: ["also-to-come"] } })).body).toMatchObject({
      conditions: { project_slugs: ["also-to-come"] },
    });
    expect(await spend(only)).toBe("404 not_found");
  });
});

const tooMany = Array.from({ length: 101 }, (_, index) => `name-${index}`);
const wrong: [Record<string, unknown>, string, RegExp][] = [
  [{ name: "" }, "name", /empty/],
  [{ name: "  " }, "name", /blank/],
  [{ name: "x".repeat(121) }, "name", /120/],
  [{ name: 7 }, "name", /must be text/],
  [{ permissions: [] }, "permissions", /at least one/],
  [{ permissions: ["log_usage", "fly"] }, "permissions.1", /must be one of: log_usage/],
  [{ permissions: ["log_usage", "log_usage"] }, "permissions.1", /already/],
  [{ permissions: "log_usage" }, "permissions", /must be a list/],
  [{ project_id: "checkout" }, "project_id", /UUID/i],
  [{ project_id: randomUUID() }, "project_id", /must be a project of this workspace/],
  [{ conditions: { project_slugs: ["Not A Slug"] } }, "conditions.project_slugs.0", /slug/],
  [{ conditions: { project_slugs: ["checkout", "checkout"] } }, "conditions.project_slugs.1", /already/],
  [{ conditions: { features: [""] } }, "conditions.features.0", /empty/],
  [{ conditions: { features: ["x".repeat(129)] } }, "conditions.features.0", /128/],
  [{ conditions: { features: tooMany } }, "conditions.features", /100/],
  [{ conditions: { sources: ["api", "fax"] } }, "conditions.sources.1", /must be one of: api/],
  [{ conditions: { projects: ["checkout"] } }, "conditions.projects", /not a field/],
  [{ monthly_limit: -0.01 }, "monthly_limit", /0 or more/],
  [{ monthly_limit: "50" }, "monthly_limit", /number/],
  [{ monthly_limit: 1e15 }, "monthly_limit", /1e15/],
  [{ expires_at: "2020-01-01T00:00:00Z" }, "expires_at", /future/],
  [{ expires_at: "9999-12-31T23:59:59-14:00" }, "expires_at", /years 1 to 9999/],
  [{ expires_at: "2127-01-01" }, "expires_at", /offset/],
  [{ expires_at: "2127-01-01T00:00:00" }, "expires_at", /offset/],
  [{ rate_limit_rpm: 0 }, "rate_limit_rpm", /1 or more/],
  [{ rate_limit_rpm: 1.5 }, "rate_limit_rpm", /whole/],
  [{ rate_limit_rpm: 1_000_001 }, "rate_limit_rpm", /1000000/],
  [{ allowed_cidrs: ["10.0.0.0/8", "10.0.0.0/33"] }, "allowed_cidrs.1", /CIDR/],
  [{ allowed_cidrs: ["10"] }, "allowed_cidrs.0", /CIDR/],
  [{ allowed_cidrs: ["010.0.0.1"] }, "allowed_cidrs.0", /CIDR/],
  [{ allowed_cidrs: ["example.com"] }, "allowed_cidrs.0", /CIDR/],
  [{ allowed_cidrs: tooMany }, "allowed_cidrs", /100/],
  [{ secret: "svc_live_mine" }, "secret", /not a field/],
  [{ last_used_at: null }, "last_used_at", /not a field/],
];

describe("An invalid field on creating and on editing", () => {
  let id: string;
  beforeAll(async () => {
    await forgetThrottle();
    id = (await created()).id;
  });

  test.each(wrong)("Refuses %j, naming %s", async (fields, path, message) => {
    for (const answer of [await create(fields), await edit(id, fields)]) {
      expect(codeOf(answer)).toBe("400 validation_failed");
      expect(answer.body.issues).toContainEqual({ path, message: expect.stringMatching(message) });
    }
  });

  test("Requires name and permissions, and an environment that then stays", async () => {
    const { body } = await team.users.owner.call("POST", keys(), {});
    expect(body.issues).toEqual([
      { path: "name", message: "is required" },
      { path: "permissions", message: "is required" },
    ]);
    expect((await create({ environment: "staging" })).body.issues).toMatchObject([{ path: "environment" }]);
    expect((await edit(id, { environment: "test" })).body.issues).toMatchObject([{ path: "environment" }]);
  });

  test("Names every invalid field at once and changes nothing", async () => {
    const before = await listed(id);
    const { body } = await edit(id, {
      name: "Changed",
      project_id: projects.foreign,
      expires_at: "2020-01-01T00:00:00Z",
      allowed_cidrs: ["nonsense"],
    });
    expect((body.issues as { path: string }[]).map(({ path }) => path).sort()).toEqual([
      "allowed_cidrs.0",
      "expires_at",
      "project_id",
    ]);
    expect(await listed(id)).toEqual(before);
  });
});

describe("Editing a key", () => {
  beforeAll(forgetThrottle);

  test("Changes only the given fields; null clears, a list is replaced", async () => {
    const { secret, ...key } = await created({
      conditions: { project_slugs: ["checkout"], features: ["chat"] },
      monthly_limit: 5,
      allowed_cidrs: ["127.0.0.0/8"],
    });
    const renamed = await edit(key.id, { name: "Renamed" });
    expect(renamed.status).toBe(200);
    expect(renamed.body).toEqual({ ...key, name: "Renamed" });
    expect(
      (await edit(key.id, { conditions: { project_slugs: ["search", "checkout"] } })).body,
    ).toMatchObject({
      conditions: { project_slugs: ["search", "checkout"], features: ["chat"] },
      monthly_limit: 5,
    });
    expect((await edit(key.id, { conditions: { features: null }, monthly_limit: null })).body).toMatchObject({
      conditions: { project_slugs: ["search", "checkout"], features: [] },
      monthly_limit: null,
    });
    expect((await edit(key.id, { conditions: null, allowed_cidrs: [] })).body).toMatchObject({
      conditions: { project_slugs: [], features: [] },
      allowed_cidrs: [],
    });
    expect((await edit(key.id, {})).body).toMatchObject({ name: "Renamed" });
    expect((await using({ secret }).post(costMessage())).status).toBe(201);
  });

  test("Accepts other fields of an expired key, and a later expiry", async () => {
    const key = await created();
    await harness.fixtures.sql.query(
      "update public.api_keys set expires_at = now() - interval '1 day' where id = $1",
      [key.id],
    );
    expect(codeOf(await using(key).post(costMessage()))).toBe("401 key_expired");
    expect((await edit(key.id, { name: "Late" })).body).toMatchObject({ name: "Late", status: "expired" });
    expect((await edit(key.id, { expires_at: "2127-01-01T00:00:00Z" })).body).toMatchObject({
      status: "active",
    });
    expect((await using(key).post(costMessage())).status).toBe(201);
  });
});
