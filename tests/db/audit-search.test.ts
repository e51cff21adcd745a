import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { listAudit } from "@/lib/access/audit/service";
import { auditQuery, maxSearchedEntries } from "@/lib/contract/access/audit";
import type { UserClaims } from "@/lib/db/transaction";
import { type CapturedPlan, capturePlans } from "@/tests/helpers/captured-plans";
import { connectService } from "@/tests/helpers/connect-service";
import type { TestDatabase } from "@/tests/helpers/database";
import type { Fixtures } from "@/tests/helpers/keys";
import { addToWorkspace, claimsOf, createUser } from "@/tests/helpers/sql-user";
import { withDatabase } from "@/tests/helpers/with-database";

// A log of 40,000 entries, one a minute, that a program has written but for a few. Other workspaces have as many.

const size = 40_000;
const slug = "busy";
const program = randomUUID();
const key = randomUUID();
const rareSubject = randomUUID();
let database: TestDatabase;
let fixtures: Fixtures;
let admin: UserClaims;
let plansOf: (run: () => Promise<unknown>) => Promise<CapturedPlan[]>;

withDatabase((open) => {
  ({ database, fixtures } = open);
});
connectService(() => database);
beforeAll(async () => {
  const user = await createUser(fixtures);
  for (const workspace of [await fixtures.workspace(slug), await fixtures.workspace("other")]) {
    await addToWorkspace(fixtures, workspace, user.id, "admin");
    await fixtures.sql.query("delete from public.audit_log where workspace_id = $1", [workspace]);
    // Entry 30,000, the 10,001st from the newest, is the only one of a person; 100 in their order are of prices.
    await fixtures.sql.query(
      `insert into public.audit_log (workspace_id, at, actor_id, actor_key_id, action, subject, after)
       select $1, '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 minute',
         case when n = 30000 then $2::uuid when n % 1000 = 7 then null else $3::uuid end,
         case when n % 1000 = 7 then $6::uuid end,
         case when n % 400 = 0 then 'price.created' when n % 4000 = 1 then 'project.deleted' else 'project.changed' end,
         case when n % 400 = 0 then 'price ' else 'project ' end || case when n = 30000 then $4::uuid else gen_random_uuid() end,
         case when n % 400 = 0 then jsonb_build_object('provider', 'in-house', 'model', 'ranker-' || n)
           else jsonb_build_object('name', 'Project ' || n) end
       from generate_series(1, $5::int) as n`,
      [workspace, user.id, program, rareSubject, size, key],
    );
  }
  await fixtures.sql.query("analyze");
  admin = claimsOf(user);
  plansOf = await capturePlans(database);
}, 180_000);

const list = (query: Record<string, string>) => listAudit(admin, slug, auditQuery.parse(query));

/** The ids of all entries that match, page by page. */
async function listAll(query: Record<string, string>): Promise<{ ids: string[]; pages: number }> {
  const ids: string[] = [];
  let cursor: string | null = null;
  let pages = 0;
  do {
    const page = await list({ limit: "100", ...query, ...(cursor !== null && { cursor }) });
    ids.push(...page.entries.map(({ id }) => id));
    cursor = page.next_cursor;
    pages += 1;
  } while (cursor !== null);
  return { ids, pages };
}

/** Where nearly all entries match a filter, Postgres takes the index of the whole log, and passes over the few others. */
const passedOver = 100;

describe("Reads about as many entries as a page has, by an index", () => {
  test.each<Record<string, string>>([
    {},
    { kind: "price" },
    { kind: "nothing" },
    { action: "project.deleted" },
    { actor: program },
    { actor: "" },
    { key },
    { key: randomUUID() },
    { actor: program, kind: "price" },
    { actor: randomUUID(), kind: "project" },
    { subject: rareSubject },
    { from: "2026-01-05", to: "2026-01-06" },
    { kind: "price", from: "2026-01-05", to: "2026-01-20" },
  ])("%o", async (filters) => {
    for (const order of ["newest", "oldest"]) {
      const first = await list({ ...filters, order, limit: "3" });
      for (const cursor of [null, first.next_cursor]) {
        const query = { ...filters, order, ...(cursor !== null && { cursor }) };
        const scans = await auditScans(() => list(query));
        expect(scans.map(({ type }) => type)).not.toContain("Seq Scan");
        for (const { rows } of scans) expect(rows).toBeLessThan(passedOver);
      }
    }
  });
});

describe("Looks through a limited number of entries in a search, and goes on behind them", () => {
  test.each<[Record<string, string>, number]>([
    [{ q: "ranker-30000" }, 1],
    [{ q: "project 1234" }, 11],
    [{ q: "what nobody wrote" }, 0],
    [{ q: rareSubject.toUpperCase() }, 1],
    [{ action: "project.changed", actor: "" }, 40],
    [{ action: "project.changed", kind: "price" }, 0],
    [{ key, action: "project.changed", actor: "" }, 40],
  ])("%o", async (filters, count) => {
    for (const order of ["newest", "oldest"]) {
      const scans = await auditScans(() => list({ ...filters, order }));
      expect(scans.map(({ type }) => type)).not.toContain("Seq Scan");
      for (const { rows } of scans) expect(rows).toBeLessThan(maxSearchedEntries + passedOver);
      const { ids, pages } = await listAll({ ...filters, order });
      expect(ids).toHaveLength(count);
      expect(new Set(ids).size).toBe(count);
      expect(pages).toBeLessThanOrEqual(5);
    }
  });

  test("within what the other filters leave, at once", async () => {
    const answer = await list({ q: "ranker-1200", kind: "price" });
    expect(answer.entries).toHaveLength(2);
    expect(answer.next_cursor).toBeNull();
  });
});

test("Lists the oldest first in the reverse of the newest first", async () => {
  const newest = await listAll({ kind: "price" });
  const oldest = await listAll({ kind: "price", order: "oldest" });
  expect(newest.ids).toHaveLength(100);
  expect(oldest.ids).toEqual(newest.ids.toReversed());
});

async function auditScans(run: () => Promise<unknown>): Promise<CapturedPlan["scans"]> {
  const scans = (await plansOf(run)).flatMap((plan) => plan.scans);
  const found = scans.filter(({ table }) => table === "audit_log");
  expect(found).not.toEqual([]);
  return found;
}
