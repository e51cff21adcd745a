import { expect, test } from "vitest";
import { type Answer, apiClient, costMessage } from "@/tests/helpers/client";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { toolCall } from "@/tests/helpers/tool-call";

// Calls that arrive together are admitted together: reads with each other, recordings of REST and of the agent tools with
// each other. Each is decided as if it had come alone.

const harness = withSharedHarness({ services: 2 });
const clientOf = (secret: string, service = 0) => apiClient(harness.services[service]?.baseUrl ?? "", secret);

const usage = {
  project: "checkout",
  provider: "acme",
  unit_type: "requests",
  quantity: 1,
  estimated_cost: 0.01,
};

type Send = (secret: string, service: number) => Promise<Answer>;

const tool =
  (name: string, args: Record<string, unknown>, era: "2026" | "2025" = "2026"): Send =>
  (secret, service) => {
    const { body, headers } = toolCall(era, name, args);
    return clientOf(secret, service).call("POST", "/api/mcp", body, headers);
  };

const kinds: Record<string, Send> = {
  "a message": (secret, service) => clientOf(secret, service).post(costMessage()),
  "a summary": (secret, service) => clientOf(secret, service).get("/api/v1/summary/month"),
  "a tool that records": tool("log_usage", usage),
  "a tool that records, in a protocol of 2025": tool("log_usage", usage, "2025"),
  "a tool that refuses its arguments": tool("log_usage", { ...usage, quantity: "many" }),
  "a tool that reads": tool("get_monthly_summary", {}),
};

const used = async (keyId: string) => {
  const { rows } = await harness.fixtures.sql.query(
    "select coalesce(sum(admitted), 0)::int as calls from private.rate_windows where api_key_id = $1",
    [keyId],
  );
  return rows[0].calls as number;
};

const recorded = async (keyId: string) => {
  const { rows } = await harness.fixtures.sql.query(
    "select count(*)::int as messages from public.messages where api_key_id = $1",
    [keyId],
  );
  return rows[0].messages as number;
};

/** Sends calls of a key while a transaction holds its lock, until two groups at least wait on each process. */
async function whileLocked<T>(keyId: string, send: () => Promise<T>[]): Promise<T[]> {
  const holder = await harness.fixtures.sql.connect();
  try {
    await holder.query("begin");
    await holder.query("select from public.api_keys where id = $1 for update", [keyId]);
    const answers = Promise.all(send());
    await expect
      .poll(
        async () => {
          const { rows } = await harness.fixtures.sql.query(
            `select count(*)::int as waiting from pg_stat_activity
             where datname = current_database() and wait_event_type = 'Lock' and query like '%private.load_admission(%'`,
          );
          return rows[0].waiting;
        },
        { timeout: 30_000 },
      )
      .toBeGreaterThanOrEqual(4);
    await holder.query("commit");
    return await answers;
  } finally {
    await holder.query("rollback");
    holder.release();
  }
}

test.each(Object.keys(kinds))(
  "Counts %s once, from a key that the process has not seen and from one that it has",
  async (kind) => {
    const send = kinds[kind] as Send;
    const { id, secret } = await harness.fixtures.key(await harness.fixtures.workspace(), {
      rate_limit_rpm: 4,
    });
    for (const [service, left] of [
      [0, 3],
      [0, 2],
      [1, 1],
      [1, 0],
    ] as const) {
      const { status, headers } = await send(secret, service);
      expect([status < 300, headers.get("ratelimit")?.split(";")[1]]).toEqual([true, `r=${left}`]);
    }
    expect(await used(id)).toBe(4);
    const refused = await send(secret, 0);
    expect([refused.status, refused.body.error]).toEqual([429, "rate_limited"]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(50);
    expect(await used(id)).toBe(4);
  },
);

test("Admits exactly what a rate allows of messages, reads and tool calls at once, on two processes", async () => {
  const workspace = await harness.fixtures.workspace();
  const { id, secret } = await harness.fixtures.key(workspace, { rate_limit_rpm: 41 });
  // Both processes know the key, so that they admit its tool calls together with what they record.
  for (const service of [0, 1]) expect((await tool("log_usage", usage)(secret, service)).status).toBe(200);
  const sends = Object.values(kinds);
  const answers = await whileLocked(id, () =>
    Array.from({ length: 120 }, async (_, index) => {
      const send = sends[index % sends.length] as Send;
      const { status } = await send(secret, Math.floor(index / sends.length) % 2);
      return { send, status };
    }),
  );
  const admitted = answers.filter(({ status }) => status < 300);
  expect(admitted).toHaveLength(39);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(120 - 39);
  expect(await used(id)).toBe(41);
  const recording = ["a message", "a tool that records", "a tool that records, in a protocol of 2025"];
  const sentBy = admitted.filter(({ send }) => recording.some((kind) => kinds[kind] === send));
  expect(await recorded(id)).toBe(2 + sentBy.length);
});

test("Records exactly what a monthly limit allows of messages and tool calls at once, on two processes", async () => {
  const { id, secret } = await harness.fixtures.key(await harness.fixtures.workspace(), {
    monthly_limit: "0.2",
  });
  for (const service of [0, 1]) expect((await tool("log_usage", usage)(secret, service)).status).toBe(200);
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      (index % 3 === 0 ? (kinds["a message"] as Send) : tool("log_usage", usage))(secret, index % 2),
    ),
  );
  const stored = answers.filter(
    ({ status, body }) => status === 201 || (body.result && !(body.result as { isError?: boolean }).isError),
  );
  expect(stored).toHaveLength(18);
  expect(await recorded(id)).toBe(20);
});

test("Answers each of many calls at once for its own key, whatever becomes of the others", async () => {
  const { fixtures } = harness;
  const workspace = await fixtures.workspace();
  const other = await fixtures.workspace();
  const good = await fixtures.key(workspace);
  const cases: [number, string | undefined, string][] = [
    [200, undefined, good.secret],
    [200, undefined, (await fixtures.key(other, { rate_limit_rpm: 1_000 })).secret],
    [401, "key_revoked", (await fixtures.key(workspace, { revoked_at: "2026-01-01T00:00:00Z" })).secret],
    [401, "key_expired", (await fixtures.key(workspace, { expires_at: "2026-01-01T00:00:00Z" })).secret],
    [401, "invalid_credentials", `${good.secret.slice(0, -4)}AAAA`],
    [403, "ip_not_allowed", (await fixtures.key(workspace, { allowed_cidrs: ["203.0.113.0/24"] })).secret],
    [403, "permission_denied", (await fixtures.key(workspace, { permissions: ["log_usage"] })).secret],
  ];
  await kinds["a message"]?.(good.secret, 0);
  for (const _ of ["not seen yet", "seen"]) {
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => cases)
        .flat()
        .map(async ([status, error, secret]) => {
          const answer = await clientOf(secret).get("/api/v1/summary/month");
          return {
            wanted: [status, error, secret === good.secret ? 0.01 : status < 300 ? 0 : undefined],
            got: [answer.status, answer.body.error, answer.body.total_usd],
          };
        }),
    );
    for (const { wanted, got } of answers) expect(got).toEqual(wanted);
  }
});

test.each(Object.keys(kinds))(
  "Refuses %s of a key that was revoked or limited after its last call",
  async (kind) => {
    const send = kinds[kind] as Send;
    const { id, secret } = await harness.fixtures.key(await harness.fixtures.workspace());
    expect((await send(secret, 0)).status).toBeLessThan(300);
    const before = await recorded(id);
    await harness.fixtures.sql.query("update public.api_keys set rate_limit_rpm = 1 where id = $1", [id]);
    expect((await send(secret, 0)).headers.get("ratelimit")).toMatch(/r=0/);
    expect([(await send(secret, 0)).body.error, await used(id)]).toEqual(["rate_limited", 1]);
    await harness.fixtures.sql.query("update public.api_keys set revoked_at = now() where id = $1", [id]);
    const refused = await send(secret, 0);
    expect([refused.status, refused.body.error]).toEqual([401, "key_revoked"]);
    expect(await recorded(id)).toBe(before * 2);
  },
);
