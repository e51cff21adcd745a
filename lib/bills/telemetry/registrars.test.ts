import { describe, expect, test } from "vitest";
import { type Ask, ProviderRefusal } from "@/lib/bills/pulls/provider";
import { anthropic } from "./anthropic";
import { openrouter } from "./openrouter";
import { type TelemetryColumns, toTelemetry } from "./to-telemetry";

/**
 * A provider that gives these answers. The key is the path, behind the method unless that is GET, and with `?page` where a page of a list
 * is asked for. Where there is none, it answers 404.
 */
function answering(answers: Record<string, unknown>) {
  const asked: string[] = [];
  const ask: Ask = async (path, query, schema, _headers, body, method = body ? "POST" : undefined) => {
    const { page, offset, workspace_id: workspace } = Object.fromEntries(query);
    const place = [method, path, workspace, page && `?${page}`].filter(Boolean).join(" ");
    if (method) asked.push(body ? `${place} ${JSON.stringify(body)}` : place);
    // Lists that are read by their offset end with an empty page.
    const answer = offset !== undefined && offset !== "0" ? { data: [] } : answers[place];
    if (answer === undefined && !method) throw new ProviderRefusal(404, "not found");
    return schema.parse(answer ?? { id: "made", data: { id: "made" }, state: { type: "enabled" } });
  };
  return { ask, asked };
}

const anthropicList = "/v1/organizations/telemetry_destinations";
const enabled = { id: "a", state: { type: "enabled" } };
const [earlier, later] = ["2026-11-01T10:00:00Z", "2026-11-01T10:00:00.5Z"];

describe("Of a destination at Anthropic", () => {
  test.each<[string, object | undefined, object]>([
    ["has delivered nothing", enabled, { state: "registered", problem: null }],
    [
      "has failed, and never succeeded",
      { ...enabled, delivery_health: { last_error: "no", last_error_at: earlier } },
      { state: "failing", problem: "Anthropic could not deliver: no" },
    ],
    [
      "has failed after it succeeded",
      {
        ...enabled,
        delivery_health: { last_error: "no", last_error_at: later, last_success_at: earlier },
      },
      { state: "failing" },
    ],
    [
      "has succeeded after it failed",
      {
        ...enabled,
        delivery_health: { last_error: "no", last_error_at: earlier, last_success_at: later },
      },
      { state: "registered", problem: null },
    ],
    [
      "was disabled by somebody",
      { id: "a", state: { type: "disabled", reason: { type: "caller" } } },
      { state: "disabled", problem: "Somebody disabled it there." },
    ],
    [
      "was disabled for a reason that is new",
      { id: "a", state: { type: "disabled", reason: { type: "audit" } } },
      { state: "disabled", problem: "It is disabled there (audit)." },
    ],
    ["was removed", undefined, { state: "gone" }],
  ])("that %s, says what is the case", async (_, found, standing) => {
    const { ask } = answering({ [`${anthropicList}/a`]: found });
    expect(await anthropic.read(ask, [{ id: "a" }])).toMatchObject(standing);
  });

  test("others of the same name are removed before it is made, on every page of the list", async () => {
    const { ask, asked } = answering({
      [anthropicList]: { data: [{ ...enabled, display_name: "Ours" }], next_page: "2" },
      [`${anthropicList} ?2`]: {
        data: [
          { ...enabled, id: "b", display_name: "Ours" },
          { ...enabled, id: "c", display_name: "Theirs" },
        ],
      },
    });
    await anthropic.register(ask, { name: "Ours", base: "https://o.example/api/otlp", authorization: "x" });
    expect(asked).toEqual([
      `DELETE ${anthropicList}/a`,
      `DELETE ${anthropicList}/b`,
      expect.stringMatching(`^POST ${anthropicList} `),
    ]);
  });
});

describe("Of destinations at OpenRouter", () => {
  const list = "/api/v1/observability/destinations";
  const workspaces = "/api/v1/workspaces";
  const workspace = (id: string, isOn = true) => ({
    ...{ id, name: id.toUpperCase(), is_observability_broadcast_enabled: isOn },
  });
  const own = [
    { id: "a", workspace: "w1", turned_on: true },
    { id: "b", workspace: "w2", turned_on: false },
  ];

  test.each<[string, object, object]>([
    ["are in every workspace", {}, { state: "registered", problem: null }],
    [
      "are disabled in one",
      { [`${list}/b`]: { data: { id: "b", enabled: false } } },
      { state: "disabled", problem: "Broadcast is turned off there in W2." },
    ],
    [
      "are in one whose Broadcast is off",
      { [workspaces]: { data: [workspace("w1", false), workspace("w2")] } },
      { state: "disabled", problem: "Broadcast is turned off there in W1." },
    ],
    ["were removed in one", { [`${list}/b`]: undefined }, { state: "gone" }],
    [
      "are not in a workspace that is new",
      { [workspaces]: { data: [workspace("w1"), workspace("w2"), workspace("w3")] } },
      { state: "gone", problem: "OpenRouter has no destination of ours in W3." },
    ],
  ])("that %s, says what is the case", async (_, changes, standing) => {
    const { ask } = answering({
      [workspaces]: { data: [workspace("w1"), workspace("w2")] },
      [`${list}/a`]: { data: { id: "a" } },
      [`${list}/b`]: { data: { id: "b" } },
      ...changes,
    });
    expect(await openrouter.read(ask, own)).toMatchObject(standing);
  });

  test.each<[string, object[], boolean]>([
    ["turns Broadcast off where it was turned on for them", [], true],
    ["leaves Broadcast on where it sends to somebody else by now", [{ id: "theirs" }], false],
  ])("the end %s", async (_, left, isOff) => {
    const { ask, asked } = answering({ [`${list} w1`]: { data: left }, [`${list} w2`]: { data: [] } });
    await openrouter.remove(ask, own, "Ours");
    expect(asked).toEqual([
      `DELETE ${list}/a`,
      ...(isOff ? [`PATCH ${workspaces}/w1 {"is_observability_broadcast_enabled":false}`] : []),
      `DELETE ${list}/b`,
    ]);
  });
});

test.each<[string, Partial<TelemetryColumns>, object]>([
  ["was tested", { telemetry_tested_at: new Date() }, { state: "test_awaited" }],
  ["was not tested", {}, { state: "registered" }],
  ["has sent something", { key_used_at: new Date() }, { state: "receiving" }],
  [
    "has sent something, and whose key was revoked",
    { key_used_at: new Date(), key_revoked_at: new Date() },
    { state: "failing", problem: "The key of its source was revoked, so nothing is received." },
  ],
  ["is being asked", { telemetry_state: "registering" }, { state: "registering" }],
  [
    "did not answer before the service ended",
    { telemetry_state: "registering", telemetry_is_stale: true },
    { state: "failed" },
  ],
  [
    "refused",
    { telemetry_state: "refused", key_used_at: new Date() },
    { source_id: null, received_at: null },
  ],
])("A provider that %s is shown so", (_, changes, shown) => {
  const row: TelemetryColumns = {
    ...{ telemetry_id: "t", telemetry_key_id: "k", telemetry_state: "registered", telemetry_problem: null },
    ...{ telemetry_tested_at: null, telemetry_checked_at: null, telemetry_created_at: null },
    ...{ telemetry_created_by: null, telemetry_is_stale: false, key_used_at: null, key_revoked_at: null },
    ...changes,
  };
  expect(toTelemetry("anthropic", row)).toMatchObject(shown);
});
