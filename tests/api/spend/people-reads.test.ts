import { parse } from "csv-parse/sync";
import { beforeAll, describe, expect, test } from "vitest";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { readCapture } from "@/tests/helpers/otlp";
import { makeSource } from "@/tests/helpers/otlp-source";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { addUser } from "@/tests/helpers/team";

const harness = withSharedHarness();

let path: string;
let source: Awaited<ReturnType<typeof makeSource>>;
let viewer: Awaited<ReturnType<typeof addUser>>;

const formula = '=HYPERLINK("https://example.com","x")';

beforeAll(async () => {
  source = await makeSource(harness);
  const { rows } = await harness.fixtures.sql.query("select slug from public.workspaces where id = $1", [
    source.workspace,
  ]);
  path = `/api/v1/workspaces/${rows[0].slug}`;
  viewer = await addUser(harness, source.workspace, "viewer");
  const client = apiClient(source.url, source.secret);
  const line = { unit_type: "requests", quantity: 1, estimated_cost: 1 };
  for (const message of [
    costMessage({ user: formula, session: "s-1", tags: { note: "+1", team: "growth" } }),
    costMessage({ user: "bo", session: "s-2", included: true, estimated_cost: 0.7 }),
    costMessage({
      ...{ type: "batch", batch_id: "b", model: undefined, unit_type: undefined, quantity: undefined },
      ...{
        estimated_cost: undefined,
        items: [
          { ...line, user: "bo", session: "s-1" },
          { ...line, user: "cy" },
        ],
      },
    }),
  ]) {
    expect((await client.post(message)).status).toBe(201);
  }
  await source.accept(readCapture("claude-code-logs"));
});

const activity = async (query: string) => {
  const { status, body } = await viewer.get(`${path}/activity?period=all&${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.activity as Record<string, unknown>[];
};

describe("Activity", () => {
  test("Has who, the tags, the emitter and the list price", async () => {
    const [row] = await activity("cost_status=included");
    expect(row).toMatchObject({
      end_user: "bo",
      tags: {},
      emitter: null,
      amount_usd: 0,
      list_price_usd: 0.7,
    });
    const [told] = await activity("emitter=claude-code");
    expect(told).toMatchObject({ emitter: "claude-code", tags: { team: "growth" }, list_price_usd: null });
  });

  test.each([
    [`user=${encodeURIComponent(formula)}`, [0.01]],
    ["user=bo", [1, 0]],
    ["user=cy", [1]],
    ["user=bo&session=s-1", [1]],
    ["session=s-2", [0]],
    ["tag=note:%2B1", [0.01]],
    ["tag=note", []],
    ["tag=team:nobody", []],
    ["user=bo&cost_status=included", [0]],
    ["user=%25", []],
    ["user=' or true --", []],
  ])("Filters by %s, a batch by its lines", async (query, amounts) => {
    expect((await activity(`emitter=&${query}`)).map((row) => row.amount_usd)).toEqual(amounts);
  });

  test("Tells the message's session, its emitter and that one's own cost", async () => {
    const [told] = await activity("emitter=claude-code&limit=1");
    const { body } = await viewer.get(`${path}/messages/${told?.id}`);
    expect(body).toMatchObject({ emitter: "claude-code", given_cost_usd: expect.any(Number) });
    expect([typeof body.session, typeof body.end_user]).toEqual(["string", "string"]);
    const [batch] = await activity("type=batch");
    expect(batch).toMatchObject({ end_user: null, line_count: 2 });
    const lines = (await viewer.get(`${path}/messages/${batch?.id}`)).body;
    expect(lines).toMatchObject({
      end_user: null,
      lines: [
        { end_user: "bo", session: "s-1" },
        { end_user: "cy", session: null },
      ],
    });
  });
});

describe("Exports", () => {
  test("Have the columns, and run nobody's formula", async () => {
    const export_ = async (query: string) => {
      const response = await fetch(`${source.url}${path}/export?period=all&emitter=&${query}`, {
        headers: { authorization: `Bearer ${viewer.token}` },
      });
      expect(response.status).toBe(200);
      return response.text();
    };
    const csv = await export_("format=csv");
    expect(csv.split("\r\n")[0]).toMatch(
      /,end_user,tags,emitter,list_price_usd,voids,voided_by,corrects,corrected_by,adjusts$/,
    );
    expect(csv).toContain(`,"'${formula.replaceAll('"', '""')}","note:+1; team:growth",,`);
    const focus = await export_("format=focus&tag=team:growth");
    expect(focus).toContain(`"{""environment"":""live"",""note"":""+1"",""team"":""growth""}"`);
    expect(focus).toContain(`,"'${formula.replaceAll('"', '""')}",`);
    const [included] = parse(await export_("format=focus&cost_status=included"), { columns: true });
    expect(included).toMatchObject({ BilledCost: "0.0", ListCost: "0.7" });
  });
});

test("A workspace does not read the people of another", async () => {
  const other = await makeSource(harness);
  const stranger = await addUser(harness, other.workspace, "owner");
  for (const of of ["activity?user=bo", "metrics?user=bo", "people/erasures"]) {
    expect((await stranger.get(`${path}/${of}`)).status).toBe(404);
  }
});
