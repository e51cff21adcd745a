import { request } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { withHarness } from "@/tests/helpers/harness";
import { addUser, type User } from "@/tests/helpers/team";

/** Enough for forty pages and, with a long label in each, for more than the buffers of a connection hold: 17 MB. */
const rows = 20_000;
const label = "a long label ".repeat(48);

const harness = withHarness({ services: 0, settings: { LOG_LEVEL: "silent" } });
const slug = "exported";
let workspace: string;
let owner: User;
let other: User;

beforeAll(async () => {
  workspace = await harness.fixtures.workspace(slug);
  const project = await harness.fixtures.project(workspace, "checkout");
  const { id: key } = await harness.fixtures.key(workspace);
  await harness.fixtures.sql.query("select private.ensure_messages_month(now())");
  await harness.fixtures.sql.query(
    `insert into public.messages (
       workspace_id, id, occurred_at, created_at, project_id, api_key_id, type, source, environment, provider, model,
       feature, unit_type, quantity, amount_usd, cost_status, label
     )
     select $1, gen_random_uuid(), at, at, $2, $3, 'usage', 'api', 'live', 'openai', 'gpt-4o', 'chat',
       'input_tokens', 1000, 0.01, 'client', $4
     from (
       select date_trunc('month', now(), 'UTC') + number * interval '10 seconds' as at from generate_series(1, ${rows}) as number
     ) as moments`,
    [workspace, project, key, label],
  );
});

describe.each(["on", "off"])("An export (fast lane %s)", (lane) => {
  const at = (process: number) => harness.services[process]?.baseUrl ?? "";

  beforeAll(async () => {
    harness.services = await Promise.all(
      Array.from({ length: 2 }, () => harness.start({ OUTLAY_FAST_LANE: lane })),
    );
    [owner, other] = await Promise.all([
      addUser(harness, workspace, "owner"),
      addUser(harness, workspace, "viewer"),
    ]);
  });

  afterAll(async () => {
    await Promise.all(harness.services.map((service) => service.stop()));
  });

  const path = () => `/api/v1/workspaces/${slug}/export?period=month`;
  const begin = (user: User, process = 0, signal?: AbortSignal, asked = path()) =>
    fetch(at(process) + asked, {
      headers: { authorization: `Bearer ${user.token}` },
      ...(signal && { signal }),
    });
  const probe = async (user: User, process = 0) =>
    (
      await fetch(at(process) + path(), {
        method: "HEAD",
        headers: { authorization: `Bearer ${user.token}` },
      })
    ).status;
  /** What does not depend on how the answer is sent is tested of one lane. */
  const once: (name: string, run: () => Promise<void>) => void = lane === "on" ? test : () => {};
  const none = () => expect.poll(() => probe(owner, 1), { timeout: 30_000 }).toBe(200);
  beforeEach(none);

  once("Is one at a time per user over all processes, without delaying other users", async () => {
    const first = await begin(owner);
    expect(first.status).toBe(200);
    for (const process of [0, 1]) {
      const second = await begin(owner, process);
      expect(second.status).toBe(429);
      expect(Number(second.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(await second.json()).toMatchObject({ error: "export_in_progress", retry_after_seconds: 10 });
      expect(await probe(owner, process)).toBe(429);
    }
    const theirs = await begin(other, 1);
    const texts = await Promise.all([first.text(), theirs.text()]);
    for (const text of texts) expect(text.split("\r\n")).toHaveLength(rows + 2);
    expect((await begin(owner, 1).then((again) => again.text())).length).toBe(texts[0]?.length);
  });

  test("Frees its user when its reader hangs up", async () => {
    const leaving = new AbortController();
    const { status } = await begin(owner, 0, leaving.signal);
    expect(status).toBe(200);
    expect(await probe(owner)).toBe(429);
    leaving.abort();
    await none();
  });

  once("Frees its user after a lease when its process was killed", async () => {
    const service = await harness.start({ OUTLAY_FAST_LANE: lane });
    const { hostname, port } = new URL(service.baseUrl);
    const socket = connect(Number(port), hostname).on("error", () => {});
    socket.write(
      `GET ${path()} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${owner.token}\r\n\r\n`,
    );
    await expect.poll(() => probe(owner), { timeout: 30_000 }).toBe(429);
    await service.kill();
    expect(await probe(owner)).toBe(429);
    await harness.fixtures.sql.query(
      "update private.running_exports set lease_ends_at = clock_timestamp() where user_id = $1",
      [owner.id],
    );
    expect(await probe(owner)).toBe(200);
  });

  test("Holds no connection while its reader takes nothing, and messages are recorded", async () => {
    const { hostname, port } = new URL(at(0));
    const socket = connect(Number(port), hostname);
    socket.pause();
    socket.write(
      `GET ${path()} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${owner.token}\r\n\r\n`,
    );
    await expect.poll(() => probe(owner), { timeout: 30_000 }).toBe(429);
    const busy = async () => {
      const { rows } = await harness.fixtures.sql.query(
        `select count(*)::int as busy from pg_stat_activity
         where datname = current_database() and usename = 'outlay_service' and state <> 'idle'`,
      );
      return rows[0].busy;
    };
    // The connection's buffers fill up; from then on, nothing is read.
    await expect.poll(busy, { timeout: 30_000, interval: 200 }).toBe(0);
    expect(await probe(owner), "it is still under way").toBe(429);
    socket.destroy();
    await none();
  });

  test("Breaks the connection when it fails, so that a partial file is not taken for whole", async () => {
    const ended = new Promise<string>((resolve, reject) => {
      const call = request(at(0) + path(), { headers: { authorization: `Bearer ${other.token}` } });
      call.on("error", reject);
      call.on("response", async (response) => {
        let text = "";
        response.on("error", (error) => resolve(`broke off: ${error.message}`));
        response.on("end", () => resolve(`ended with ${text.split("\r\n").length} lines`));
        response.once("data", async () => {
          response.pause();
          // From the next page on, nothing can be read.
          await harness.fixtures.sql.query(
            "delete from public.workspace_members where workspace_id = $1 and user_id = $2",
            [workspace, other.id],
          );
          response.on("data", (piece) => {
            text += piece;
          });
          response.resume();
        });
      });
      call.end();
    });
    expect(await ended).toMatch(/^broke off/);
    await harness.fixtures.sql.query(
      "insert into public.workspace_members (workspace_id, user_id, role) values ($1, $2, 'viewer')",
      [workspace, other.id],
    );
  });

  once("Waits its turn behind others, and does not delay recording", async () => {
    const { secret } = await harness.fixtures.key(await harness.fixtures.workspace());
    const readers = await Promise.all(Array.from({ length: 2 }, () => addUser(harness, workspace, "viewer")));
    // The first two days of the month: a row every ten seconds.
    const month = new Date().toISOString().slice(0, 7);
    const days = `/api/v1/workspaces/${slug}/export?period=range&from=${month}-01&to=${month}-02`;
    const lines = 2 * 8_640 - 1;
    const exports = readers.map(async (reader) => (await begin(reader, 0, undefined, days)).text());
    const key = apiClient(at(0), secret);
    let isDone = false;
    const all = Promise.all(exports).finally(() => {
      isDone = true;
    });
    const statuses: number[] = [];
    while (!isDone) statuses.push((await key.post(costMessage())).status);
    for (const text of await all) expect(text.split("\r\n")).toHaveLength(lines + 2);
    expect(new Set(statuses)).toEqual(new Set([201]));
    // At least as many as an export has pages: fewer would mean that they waited for whole exports.
    expect(statuses.length).toBeGreaterThan(lines / 500);
  });
});
