import { describe, expect, test } from "vitest";
import { liteLlmCall } from "@/tests/helpers/gateways";
import { chatCall, exportSpans, readCapture } from "@/tests/helpers/otlp";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeamSource } from "@/tests/helpers/sources";

const harness = withSharedHarness({ services: 2 });

let calls = 0;
/** A span of a call of a model that was not sent before. */
const span = (attributes: Record<string, string | number> = {}) => {
  calls += 1;
  return {
    id: calls.toString(16),
    attributes: { ...chatCall, "gen_ai.response.id": `chatcmpl-of-a-unique-name-${calls}`, ...attributes },
  };
};

describe("The project of what a source sends", () => {
  test.each([
    ["acme.area", "Checkout API", "checkout-api"],
    ["service.name", "shop", "shop"],
    ["vcs.repository.url.full", "https://github.com/acme/Store.git", "store"],
    ["vcs.repository.url.full", "git@github.com:acme/store.git", "store"],
    ["vcs.repository.url.full", "https://user:pw@git.example.com/acme/store/?x=1", "store"],
    ["__proto__", "Odd", "odd"],
    ["constructor", "Odder", "odder"],
  ])("Is the attribute %s with the value %s, as the slug %s", async (attribute, value, slug) => {
    const source = await makeTeamSource(harness);
    await source.configure({ project_attribute: attribute });
    const resource = Object.fromEntries([[attribute, value]]);
    await source.accept(exportSpans([span({ project: "another" })], { resource }));
    expect(await source.messages()).toMatchObject([{ project: slug }]);
  });

  test("Is the one that its emitter's rules find, then the default, then its service's", async () => {
    const source = await makeTeamSource(harness);
    await source.configure({ project_attribute: "acme.area", default_project: "leftover" });
    await source.accept(exportSpans([span({ project: "named" })]));
    await source.accept(exportSpans([span()]));
    await source.configure({ default_project: null });
    await source.accept(exportSpans([span()]));
    const projects = (await source.messages()).map(({ project }) => project);
    expect(projects.sort()).toEqual(["leftover", "named", "shop"]);
  });

  test("Is refused and named where the key's conditions do not allow it", async () => {
    const source = await makeTeamSource(harness, { conditions: { project_slugs: ["checkout"] } });
    await source.configure({ project_attribute: "acme.area" });
    const response = await source.accept(exportSpans([span({ "acme.area": "Payroll" })]));
    const { partialSuccess } = await response.json();
    expect(partialSuccess.errorMessage).toContain("may not use the project payroll");
    expect(await source.messages()).toEqual([]);
  });

  test("Is not a text that is too long for a name", async () => {
    const source = await makeTeamSource(harness);
    await source.configure({ project_attribute: "acme.area", default_project: "leftover" });
    await source.accept(exportSpans([span({ "acme.area": "long ".repeat(100_000) })]));
    expect(await source.messages()).toMatchObject([{ project: "leftover" }]);
  });
});

test("The feature comes from the attribute of the settings, the emitter, the default", async () => {
  const source = await makeTeamSource(harness);
  await source.configure({ feature_attribute: "acme.screen", default_feature: "other" });
  await source.accept(exportSpans([span({ "acme.screen": "cart", feature: "old" })]));
  await source.accept(exportSpans([span({ feature: "old" })]));
  await source.accept(exportSpans([span()]));
  const features = (await source.messages()).map(({ feature }) => feature);
  expect(features.sort()).toEqual(["cart", "old", "other"]);
});

describe("The cost that a source gives", () => {
  const costOf = async (source: Awaited<ReturnType<typeof makeTeamSource>>) => {
    const { rows } = await harness.fixtures.sql.query(
      "select cost_status, trim_scale(sum(amount_usd))::text as amount from public.messages where workspace_id = $1 group by 1",
      [source.workspace],
    );
    return rows;
  };

  test("Is recorded where the source is trusted", async () => {
    const source = await makeTeamSource(harness);
    await source.configure({ trusted_cost: true });
    await source.accept(exportSpans([span({ "gen_ai.usage.cost": 7 })]));
    expect(await costOf(source)).toEqual([{ cost_status: "client", amount: "7" }]);
  });

  test("Is recorded of a call without tokens, too", async () => {
    const source = await makeTeamSource(harness);
    await source.configure({ trusted_cost: true });
    const { "gen_ai.usage.input_tokens": _, "gen_ai.usage.output_tokens": __, ...image } = span().attributes;
    await source.accept(
      exportSpans([
        { id: "f1", attributes: { ...image, "gen_ai.usage.cost": 2, "gen_ai.usage.input_tokens": 0 } },
      ]),
    );
    expect(await costOf(source)).toEqual([{ cost_status: "client", amount: "2" }]);
  });

  test("Is not recorded of LiteLLM where it is not trusted", async () => {
    const source = await makeTeamSource(harness);
    await source.configure({ trusted_cost: false });
    const delivered = await fetch(`${source.url}/api/v1/sources/litellm`, {
      method: "POST",
      headers: { authorization: `Bearer ${source.secret}`, "content-type": "application/json" },
      body: JSON.stringify(liteLlmCall({ response_cost: 5 })),
    });
    expect(delivered.status).toBe(200);
    expect(await costOf(source)).toMatchObject([{ cost_status: "priced" }]);
  });
});

test("A setting names a path of LiteLLM's payload, or a name in its metadata", async () => {
  const source = await makeTeamSource(harness);
  const deliver = async () => {
    const metadata = {
      ...liteLlmCall().metadata,
      user_api_key_team_alias: "Growth",
      requester_metadata: { screen: "cart" },
    };
    const delivered = await fetch(`${source.url}/api/v1/sources/litellm`, {
      method: "POST",
      headers: { authorization: `Bearer ${source.secret}`, "content-type": "application/json" },
      body: JSON.stringify(liteLlmCall({ metadata })),
    });
    expect(delivered.status).toBe(200);
  };
  await source.configure({
    project_attribute: "metadata.user_api_key_team_alias",
    feature_attribute: "screen",
  });
  await deliver();
  expect(await source.messages()).toMatchObject([{ project: "growth", feature: "cart" }]);
});

test("A change holds for the next export, at every process", async () => {
  const source = await makeTeamSource(harness);
  const [, other] = harness.services;
  const send = (url: string) =>
    fetch(`${url}/api/otlp/v1/traces`, {
      method: "POST",
      headers: { authorization: `Bearer ${source.secret}`, "content-type": "application/json" },
      body: JSON.stringify(exportSpans([span({ "acme.area": "north", "acme.zone": "south" })]).body),
    });
  for (const attribute of ["acme.area", "acme.zone", "acme.area"]) {
    await source.configure({ project_attribute: attribute });
    await send(source.url);
    await send(other?.baseUrl ?? "");
  }
  const projects = (await source.messages()).map(({ project }) => project);
  expect(projects.sort()).toEqual(["north", "north", "north", "north", "south", "south"]);
});

test("A patch merges: what is left out stays, null clears", async () => {
  const source = await makeTeamSource(harness);
  await source.configure({ project_attribute: "acme.area", tags: [{ name: "team", attribute: "team" }] });
  const key = await source.configure({ default_feature: "search", project_attribute: null });
  expect(key.source).toEqual({
    program: null,
    project_attribute: null,
    default_project: null,
    feature_attribute: null,
    default_feature: "search",
    tags: [{ name: "team", attribute: "team" }],
    trusted_cost: null,
    subscription_covered: false,
  });
  expect((await source.read()).settings).toEqual(key.source);
  expect((await source.configure(null)).source).toBeNull();
});

test.each([
  ["project_attribute", "gen_ai.input.messages"],
  ["feature_attribute", "http.request.header.authorization"],
  ["feature_attribute", "user_prompt"],
  ["project_attribute", "has space"],
  ["project_attribute", "x".repeat(129)],
  ["default_project", "Not a slug"],
  ["program", "netscape"],
])("A setting refuses %s = %s, and names the field", async (field, value) => {
  const { team, id } = await makeTeamSource(harness);
  const answer = await team.users.owner.call("PATCH", `${team.path}/api-keys/${id}`, {
    source: { [field]: value },
  });
  expect(answer.status).toBe(400);
  expect(answer.body).toMatchObject({
    error: "validation_failed",
    issues: [{ path: `source.${field}` }],
  });
});

test("A setting refuses more than ten tags, and two of one name", async () => {
  const { team, id } = await makeTeamSource(harness);
  const patch = (tags: unknown) =>
    team.users.owner.call("PATCH", `${team.path}/api-keys/${id}`, { source: { tags } });
  const many = Array.from({ length: 11 }, (_, index) => ({ name: `tag-${index}`, attribute: "team" }));
  expect((await patch(many)).body).toMatchObject({ issues: [{ path: "source.tags" }] });
  const twice = [many[0], many[0]];
  expect((await patch(twice)).body).toMatchObject({ issues: [{ path: "source.tags.1.name" }] });
});

test("Members change the sources whose keys they made, admins all, viewers none", async () => {
  const { team, id } = await makeTeamSource(harness);
  const patch = (who: keyof typeof team.users) =>
    team.users[who].call("PATCH", `${team.path}/api-keys/${id}`, { source: { default_feature: "x" } });
  for (const [who, status] of [
    ["viewer", 403],
    ["member", 403],
    ["stranger", 404],
    ["admin", 200],
  ] as const)
    expect((await patch(who)).status, who).toBe(status);
  const { body } = await team.users.owner.get(`${team.path}/audit?kind=api_key`);
  const [latest] = body.entries as { action: string; after: Record<string, unknown> }[];
  expect(latest).toMatchObject({
    action: "api_key.changed",
    after: { source_settings: { default_feature: "x" } },
  });
});

test("An attribute that may hold a prompt is not read, whoever wrote it into the settings", async () => {
  const source = await makeTeamSource(harness);
  await harness.fixtures.sql.query("update public.api_keys set source_settings = $1 where id = $2", [
    JSON.stringify({ project_attribute: "gen_ai.prompt", tags: [{ name: "x", attribute: "gen_ai.prompt" }] }),
    source.id,
  ]);
  await source.accept(exportSpans([span({ "gen_ai.prompt": "tell nobody" })]));
  expect(await source.messages()).toMatchObject([{ project: "shop" }]);
});

test("Claude Code's capture goes to the project of a resource attribute that the settings name", async () => {
  const source = await makeTeamSource(harness);
  await source.configure({ project_attribute: "team" });
  await source.accept(readCapture("claude-code-logs"));
  expect(await source.messages()).toMatchObject([{ project: "growth" }]);
});

test("Tags are those of the settings, and those that the emitter is known to have where there are none", async () => {
  const source = await makeTeamSource(harness);
  const tagsOf = async () => {
    const { rows } = await harness.fixtures.sql.query(
      "select distinct tags from public.messages where workspace_id = $1 and part = 0 order by tags",
      [source.workspace],
    );
    return rows.map(({ tags }) => tags);
  };
  const resource = {
    team: "growth",
    "acme.floor": 4,
    region: "eu",
    "acme.note": "sk-proj-aaaaaaaaaaaaaaaaaaaaaaaa",
  };
  await source.accept(exportSpans([span()], { resource }));
  expect(await tagsOf()).toEqual([["team:growth"]]);
  await source.configure({
    tags: [
      { name: "floor", attribute: "acme.floor" },
      { name: "region", attribute: "region" },
      { name: "note", attribute: "acme.note" },
      { name: "nothing", attribute: "acme.absent" },
    ],
  });
  await source.accept(exportSpans([span()], { resource }));
  expect(await tagsOf()).toEqual([["floor:4", "region:eu"], ["team:growth"]]);
});

test("What a subscription covers is recorded as included, at no cost, with the list price beside it", async () => {
  const source = await makeTeamSource(harness);
  await source.configure({ subscription_covered: true, trusted_cost: true });
  await source.accept(readCapture("claude-code-logs"));
  const { rows } = await harness.fixtures.sql.query(
    "select cost_status, sum(amount_usd)::float as amount, sum(list_price_usd)::float > 0 as has_list_price from public.messages where workspace_id = $1 group by 1",
    [source.workspace],
  );
  expect(rows).toEqual([{ cost_status: "included", amount: 0, has_list_price: true }]);
});
