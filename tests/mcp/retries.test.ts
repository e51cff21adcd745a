import { request as httpRequest } from "node:http";
import { beforeAll, describe, expect, test } from "vitest";
import { apiClient } from "../helpers/client";
import { connectModern, connectOlder, modernHttp, olderStdio } from "../helpers/mcp";
import { withSharedHarness } from "../helpers/shared-harness";
import { toolCall } from "../helpers/tool-call";

const harness = withSharedHarness();
const baseUrl = () => harness.services[0]?.baseUrl ?? "";

const usage = {
  project: "checkout",
  provider: "acme",
  unit_type: "requests",
  quantity: 1,
  estimated_cost: 0.01,
};

async function newKey() {
  const { id, secret } = await harness.fixtures.key(await harness.fixtures.workspace(), {
    monthly_limit: "100",
  });
  const recorded = async () => {
    const { rows } = await harness.fixtures.sql.query(
      "select count(*)::int as messages from public.messages where api_key_id = $1",
      [id],
    );
    return rows[0].messages as number;
  };
  const send = async (
    era: "2026" | "2025",
    options: { id?: number | string; meta?: Record<string, unknown> } = {},
    headers: Record<string, string> = {},
    args: Record<string, unknown> = usage,
  ) => {
    const call = toolCall(era, "log_usage", args, options);
    const { body } = await apiClient(baseUrl(), secret).call("POST", "/api/mcp", call.body, {
      ...call.headers,
      ...headers,
    });
    return body.result as {
      isError?: boolean;
      structuredContent: { id: string };
      content: { text: string }[];
    };
  };
  return { secret, recorded, send };
}

test("Records once under a client's idempotency key, as over REST, in both protocols", async () => {
  const { send, recorded, secret } = await newKey();
  const meta = { idempotency_key: "invoice-7" };
  const first = await send("2026", { id: 1, meta });
  const again = await send("2026", { id: 2, meta });
  const older = await send("2025", { id: 3, meta });
  expect(again.structuredContent).toEqual(first.structuredContent);
  expect(older.structuredContent).toEqual(first.structuredContent);
  expect(again.content[0]?.text).toContain("was not recorded again");
  expect(await recorded()).toBe(1);

  const different = await send("2026", { meta }, {}, { ...usage, quantity: 2 });
  expect(different.isError).toBe(true);
  expect(different.content[0]?.text).toContain("idempotency_conflict");
  const { project, ...message } = usage;
  const rest = await apiClient(baseUrl(), secret).post({
    project,
    source: "mcp",
    idempotency_key: "invoice-7",
    message: { type: "usage", ...message },
  });
  expect([rest.status, rest.headers.get("idempotent-replayed")]).toEqual([201, "true"]);
  expect((await send("2026", { meta: { idempotency_key: "" } })).content[0]?.text).toContain(
    "_meta.idempotency_key",
  );
  expect(await recorded()).toBe(1);
});

test("Records a request id once per session, and again in another session", async () => {
  const { secret, send, recorded } = await newKey();
  const start = async () => {
    const { headers } = await apiClient(baseUrl(), secret).call(
      "POST",
      "/api/mcp",
      {
        jsonrpc: "2.0",
        id: 0,
        method: "initialize",
        params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
      },
      { accept: "application/json, text/event-stream" },
    );
    return { "mcp-session-id": headers.get("mcp-session-id") ?? "" };
  };
  const [one, other] = [await start(), await start()];
  expect(one["mcp-session-id"]).not.toBe(other["mcp-session-id"]);
  const first = await send("2025", { id: 1 }, one);
  expect((await send("2025", { id: 1 }, one)).structuredContent).toEqual(first.structuredContent);
  expect(await recorded()).toBe(1);
  await send("2025", { id: 1 }, other);
  expect(await recorded()).toBe(2);
  await send("2025", { id: 2 }, one);
  await send("2025", { id: "2" }, one);
  expect(await recorded()).toBe(4);
});

test("Records two equal calls twice if both were answered", async () => {
  const { send, recorded } = await newKey();
  for (const era of ["2026", "2025"] as const) {
    await send(era, { id: 1 });
    await send(era, { id: 1 });
  }
  expect(await recorded()).toBe(4);
});

/** Locks the ledger until the transaction ends; keys are still admitted. */
const holdWrites = "lock table public.messages in exclusive mode";
/** Locks the admission of keys with a limit until the transaction ends. */
const holdAdmissions = "lock table public.api_keys in exclusive mode";

/** Waits until `count` calls of a database function wait for a lock. Background work calls other functions. */
const untilWaiting = (name: string, count: number) =>
  expect
    .poll(
      async () => {
        const { rows } = await harness.fixtures.sql.query(
          `select count(*)::int as waiting from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock' and query like '%private.' || $1 || '(%'`,
          [name],
        );
        return rows[0].waiting;
      },
      { timeout: 30_000 },
    )
    .toBe(count);

/** Sends a call and disconnects once it waits in a database function; resolves when the service has noticed. */
async function hangUpWhileIn(
  name: string,
  era: "2026" | "2025",
  { secret }: { secret: string },
): Promise<void> {
  const call = toolCall(era, "log_usage", usage, { id: 1 });
  const request = httpRequest(`${baseUrl()}/api/mcp`, {
    method: "POST",
    headers: { ...call.headers, "content-type": "application/json", authorization: `Bearer ${secret}` },
  });
  const gone = new Promise((resolve) => request.once("close", resolve).once("error", () => {}));
  request.end(JSON.stringify(call.body));
  await untilWaiting(name, 1);
  // Ends the connection in order: the service closes its side once it has noticed.
  request.socket?.end();
  await gone;
}

/** Runs `run` while a transaction holds the lock of a statement; `free` ends the transaction. */
async function whileHeld(statement: string, run: (free: () => Promise<unknown>) => Promise<void>) {
  const holder = await harness.fixtures.sql.connect();
  try {
    await holder.query("begin");
    await holder.query(statement);
    await run(() => holder.query("commit"));
  } finally {
    await holder.query("rollback");
    holder.release();
  }
}

describe("A call whose client disconnected before the answer", () => {
  // The first message of a month creates its partition, which waits for the same lock.
  beforeAll(async () => void (await (await newKey()).send("2026")));

  test.each(["2026", "2025"] as const)(
    "Is recorded once together with its retry, when its client disconnected while it was recorded (%s)",
    async (era) => {
      const key = await newKey();
      await whileHeld(holdWrites, async (free) => {
        await hangUpWhileIn("store_messages", era, key);
        // Clients of 2026-07-28 send it again under a new id.
        const retry = key.send(era, { id: 2 });
        await free();
        expect((await retry).isError ?? false).toBe(false);
      });
      await expect.poll(key.recorded, { timeout: 30_000 }).toBe(1);
      await key.send(era, { id: 3 });
      expect(await key.recorded()).toBe(2);
    },
  );

  test.each(["2026", "2025"] as const)(
    "Is not begun when its client disconnected first (%s)",
    async (era) => {
      const key = await newKey();
      await whileHeld(holdAdmissions, async (free) => {
        await hangUpWhileIn("load_admission", era, key);
        // Differs from the call before, so it is no retry of it.
        const next = key.send(era, { id: 2 }, {}, { ...usage, quantity: 2 });
        await untilWaiting("load_admission", 2);
        await free();
        expect((await next).isError ?? false).toBe(false);
      });
      await key.send(era, { id: 3 });
      expect(await key.recorded()).toBe(2);
    },
  );

  test("Is recorded once when a client on stdio cancels it and calls again", async () => {
    const { secret, recorded } = await newKey();
    const client = await connectOlder(olderStdio(baseUrl(), secret));
    await whileHeld(holdWrites, async (free) => {
      await expect(client.call("log_usage", usage, 1_000)).rejects.toThrow(/timed out/i);
      const retry = client.call("log_usage", usage);
      await free();
      expect((await retry).isError).toBe(false);
    }).finally(() => client.close());
    expect(await recorded()).toBe(1);
  });
});

test("Never takes equal calls of one client for retries", async () => {
  const { secret, recorded } = await newKey();
  const client = await connectModern(modernHttp(`${baseUrl()}/api/mcp`, secret));
  await Promise.all(Array.from({ length: 5 }, () => client.call("log_usage", usage)));
  await client.close();
  const local = await connectOlder(olderStdio(baseUrl(), secret));
  await Promise.all(Array.from({ length: 5 }, () => local.call("log_usage", usage)));
  await local.close();
  expect(await recorded()).toBe(10);
});
