import { createHash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { parse } from "csv-parse/sync";
import { expect, test, vi } from "vitest";
import { type Entry, fromBuffer, type ZipFile } from "yauzl";
import { costMessage } from "@/tests/helpers/client";
import { exact, show, total } from "@/tests/helpers/ledger/exact";
import { clientIn } from "@/tests/helpers/recording";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam, type Team, type User } from "@/tests/helpers/team";

const harness = withSharedHarness();
const rows = async (text: string, values: unknown[] = []) =>
  (await harness.fixtures.sql.query(text, values)).rows;

/** Sums of the ledger as the manifest has them. */
type Sum = { environment: string; amount_usd: string; message_count: string };
type Manifest = {
  messages: { postings: number; amount_usd: string };
  ledger: Sum[];
  files: { name: string; rows: number; bytes: number; sha256: string }[];
};

function download(team: Team, user: User): Promise<Response> {
  const address = `${harness.services[0]?.baseUrl}${team.path}/archive`;
  return fetch(address, { headers: { authorization: `Bearer ${user.token}` } });
}

/** The files of an archive, in their order. @throws where it is not whole */
async function unzip(archive: Buffer): Promise<Map<string, Buffer>> {
  const zip = await new Promise<ZipFile>((resolve, reject) =>
    fromBuffer(archive, { lazyEntries: true }, (error, opened) => (error ? reject(error) : resolve(opened))),
  );
  const files = new Map<string, Buffer>();
  return new Promise((resolve, reject) => {
    zip.on("error", reject);
    zip.on("end", () => resolve(files));
    zip.on("entry", (entry: Entry) =>
      zip.openReadStream(entry, async (error, stream) => {
        if (error) return reject(error);
        files.set(entry.fileName, await buffer(stream));
        zip.readEntry();
      }),
    );
    zip.readEntry();
  });
}

async function exportOf(team: Team) {
  const response = await download(team, team.users.admin);
  expect(response.status).toBe(200);
  const files = await unzip(Buffer.from(await response.arrayBuffer()));
  const lines = (name: string) =>
    String(files.get(name))
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { response, files, lines, manifest: JSON.parse(String(files.get("manifest.json"))) as Manifest };
}

/** Amounts keep all their digits as text. */
const amountsOf = (file: Buffer | undefined) =>
  [...String(file).matchAll(/"amount_usd": (-?[\d.]+)/g)].map(([, digits]) => exact(digits ?? ""));

test("Exports everything of a workspace, as its manifest and the ledger say", async () => {
  const team = await makeTeam(harness);
  const { owner, admin } = team.users;
  const key = await clientIn(harness, team.workspace);
  const item = { model: "m", unit_type: "requests", quantity: 2 };
  const messages = [
    costMessage({ label: '=1+1,"x"', estimated_cost: "0.000000000000000001" }),
    costMessage({ user: "Ünï", tags: { team: "a" }, quantity: 7 }),
    {
      project: "search",
      source: "api",
      message: {
        ...{ type: "batch", provider: "p", batch_id: "b" },
        items: [
          { ...item, estimated_cost: 0.25 },
          { ...item, estimated_cost: 0.125 },
        ],
      },
    },
  ];
  const text = JSON.stringify({ messages }).replace('"0.000000000000000001"', "0.000000000000000001");
  expect((await key.call("POST", "/api/v1/messages/batch", text)).body).toMatchObject({ recorded: 3 });
  await owner.call("POST", `${team.path}/budgets`, { name: "All", scope_type: "global", amount: 10 });
  await owner.call("POST", `${team.path}/api-keys`, { name: "CI", permissions: ["log_usage"] });
  await owner.call("POST", `${team.path}/invitations`, { role: "viewer" });

  const { response, files, lines, manifest } = await exportOf(team);
  expect(response.headers.get("content-disposition")).toMatch(
    new RegExp(`${team.slug}-\\d{4}-\\d\\d-\\d\\d\\.zip`),
  );
  const stored = await rows(
    "select count(*)::int as count, sum(amount_usd)::text as sum from public.messages where workspace_id = $1",
    [team.workspace],
  );
  expect(manifest.messages.postings).toBe(stored[0].count);
  expect(show(exact(manifest.messages.amount_usd))).toBe(show(exact(stored[0].sum)));
  expect(manifest.ledger).toEqual([
    { environment: "live", amount_usd: expect.any(String), message_count: "3" },
  ]);
  expect(show(exact(manifest.ledger[0]?.amount_usd ?? ""))).toBe(show(exact(stored[0].sum)));

  for (const { name, rows: count, bytes, sha256 } of manifest.files) {
    const file = files.get(name) ?? Buffer.alloc(0);
    expect([name, file.length]).toEqual([name, bytes]);
    expect(createHash("sha256").update(file).digest("hex")).toBe(sha256);
    if (name.endsWith(".ndjson")) expect([name, lines(name).length]).toEqual([name, count]);
  }
  expect([...files.keys()]).toEqual([...manifest.files.map(({ name }) => name), "manifest.json"]);
  const cells: Record<string, string>[] = parse(String(files.get("messages.csv")), { columns: true });
  expect(cells).toHaveLength(stored[0].count);
  const sum = show(exact(stored[0].sum));
  expect(show(total(cells.map((row) => exact(row.amount_usd ?? ""))))).toBe(sum);
  expect(show(total(amountsOf(files.get("messages.ndjson"))))).toBe(sum);
  expect(cells.map((row) => row.label)).toContain('\'=1+1,"x"');
  expect(lines("messages.ndjson").map((row) => row.end_user)).toContain("Ünï");

  expect(lines("members.ndjson").map((row) => row.email)).toContain(admin.email);
  expect(lines("projects.ndjson").map((row) => row.slug)).toEqual(["checkout", "search"]);
  expect(lines("api-keys.ndjson").map((row) => row.name)).toContain("CI");
  expect(lines("budgets.ndjson")).toHaveLength(1);
  expect(lines("audit-log.ndjson").map((row) => row.action)).toContain("workspace.exported");
  // No secret of the workspace, nor what one is recognised by.
  const secrets = await rows("select encode(hash, 'hex') as hash from private.api_key_secrets");
  const everything = [...files.values()].map(String).join("\n");
  for (const { hash } of secrets) expect(everything).not.toContain(hash);
  expect(everything).not.toMatch(/svc_live_[A-Za-z0-9]{20}/);
});

test("Is for admins, one at a time, and leaves an entry in the log", async () => {
  const team = await makeTeam(harness);
  for (const [role, status] of [
    ["member", 403],
    ["viewer", 403],
    ["stranger", 404],
  ] as const)
    expect((await download(team, team.users[role])).status).toBe(status);
  const key = await clientIn(harness, team.workspace);
  const address = `${harness.services[0]?.baseUrl}${team.path}/archive`;
  expect((await key.get(`${team.path}/archive`)).status).toBe(401);
  const first = await download(team, team.users.owner);
  const head = await fetch(address, {
    method: "HEAD",
    headers: { authorization: `Bearer ${team.users.admin.token}` },
  });
  expect(head.status).toBe(200);
  await first.arrayBuffer();
  const entries = await rows(
    "select actor_id from public.audit_log where workspace_id = $1 and action = 'workspace.exported'",
    [team.workspace],
  );
  expect(entries).toEqual([{ actor_id: team.users.owner.id }]);
});

test("Is one moment of the ledger, whatever is recorded meanwhile", async () => {
  const team = await makeTeam(harness);
  const key = await clientIn(harness, team.workspace);
  await key.post(costMessage());
  let stopped = false;
  const recording = Array.from({ length: 4 }, async () => {
    while (!stopped) await key.post(costMessage({ estimated_cost: 0.1 }));
  });
  for (let count = 0; count < 3; count += 1) {
    const { manifest, files, lines } = await exportOf(team);
    const postings = lines("messages.ndjson");
    const cells: unknown[] = parse(String(files.get("messages.csv")), { columns: true });
    expect([postings.length, cells.length]).toEqual([manifest.messages.postings, manifest.messages.postings]);
    expect(show(exact(manifest.messages.amount_usd))).toBe(show(exact(manifest.ledger[0]?.amount_usd ?? "")));
    expect(manifest.ledger[0]?.message_count).toBe(String(postings.length));
  }
  stopped = true;
  await Promise.all(recording);
});

test("Breaks off visibly where it cannot be completed, and can be begun again", async () => {
  const team = await makeTeam(harness);
  // Files before this one have been written by then.
  await rows("revoke select on public.message_voids from authenticated");
  const response = await download(team, team.users.owner);
  expect(response.status).toBe(200);
  await expect(response.arrayBuffer()).rejects.toThrow();
  await rows("grant select on public.message_voids to authenticated");
  const again = await vi.waitFor(async () => {
    const answer = await download(team, team.users.owner);
    expect(answer.status).toBe(200);
    return answer;
  }, 30_000);
  expect((await unzip(Buffer.from(await again.arrayBuffer()))).has("manifest.json")).toBe(true);
});

test("Ends with its reader, and leaves no transaction behind", async () => {
  const team = await makeTeam(harness);
  await rows(
    `insert into public.audit_log (workspace_id, action, subject, after)
     select $1, 'test.made', 'test', jsonb_build_object('text', (select string_agg(md5(random()::text), '') from generate_series(1, 60 + n % 2)))
     from generate_series(1, 10000) as n`,
    [team.workspace],
  );
  const response = await download(team, team.users.owner);
  const reader = response.body?.getReader();
  await reader?.read();
  await reader?.cancel();
  await vi.waitFor(async () => {
    const open = await rows(
      "select from pg_stat_activity where query like '%fetched%' and state <> 'idle' and pid <> pg_backend_pid() and datname = current_database()",
    );
    expect(open).toEqual([]);
    expect(
      await rows("select from private.running_exports where user_id = $1", [team.users.owner.id]),
    ).toEqual([]);
  }, 30_000);
});
