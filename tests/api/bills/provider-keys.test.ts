import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PulledProvider } from "@/lib/contract/bills/pulled-providers";
import { withHarness } from "@/tests/helpers/harness";
import { addAccount, billOf, usdOf } from "@/tests/helpers/provider-accounts";
import type { WithProviders } from "@/tests/helpers/with-providers";
import {
  type Organization,
  simulateProviders,
  type TrueLine,
} from "@/tests/providers/simulator/simulate-providers";

// A service of its own, which alone pulls on its database: the last test kills it.
const harness = withHarness({ services: 0 });
const providers = { harness } as WithProviders;
const key = (name: string) => Buffer.from(name.padEnd(32, ".")).toString("base64");
const settings = () => ({ PROVIDER_URLS: providers.simulator.providerUrls, SEALING_KEYS: key("first") });
beforeAll(async () => {
  providers.simulator = await simulateProviders();
  await harness.start(settings());
});
afterAll(() => providers.simulator.close());

const withAccount = (provider: PulledProvider, bill: TrueLine[], change?: Partial<Organization>) =>
  addAccount(providers, provider, bill, change);

describe("The key of an account", () => {
  test("is in no answer, log, archive, audit entry or table", async () => {
    const { secret, ended, pull, admin, path, id, slug, organization, users } = await withAccount(
      "openai",
      billOf(9, 8),
    );
    await ended();
    organization.refusal = "No: {key}";
    await pull();
    await ended();
    const found: string[] = [];
    const look = (where: string, text: string) => {
      if (text.includes(secret)) found.push(where);
    };
    look("list", JSON.stringify((await admin.get(path)).body));
    for (const what of ["audit-log", "bills", "reconciliation", "org"])
      look(what, JSON.stringify((await admin.get(`/api/v1/workspaces/${slug}/${what}`)).body));
    const archive = await fetch(`${harness.services[0]?.baseUrl}/api/v1/workspaces/${slug}/archive`, {
      headers: { authorization: `Bearer ${users.owner.token}` },
    });
    expect(archive.status).toBe(200);
    look("archive", Buffer.from(await archive.arrayBuffer()).toString("latin1"));
    look("log", harness.services.flatMap(({ said }) => said).join("\n"));
    const { rows: tables } = await harness.fixtures.sql.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('public', 'private', 'auth')`,
    );
    for (const { name } of tables) {
      const { rows } = await harness.fixtures.sql.query(
        `select t::text as row from ${name} as t where strpos(t::text, $1) > 0`,
        [secret],
      );
      if (rows.length > 0) found.push(name);
    }
    expect(tables.length).toBeGreaterThan(50);
    expect((await admin.call("DELETE", `${path}/${id}`)).status).toBe(200);
    look("removed", JSON.stringify((await admin.get(`/api/v1/workspaces/${slug}/audit-log`)).body));
    expect(found).toEqual([]);
  });

  test("does not open in another row, so that nobody who writes to the database can use it", async () => {
    const one = await withAccount("openai", billOf(9, 8));
    const other = await withAccount("openai", billOf(9, 8));
    await Promise.all([one.ended(), other.ended()]);
    await harness.fixtures.sql.query(
      "update private.provider_keys set sealed = (select sealed from private.provider_keys where account_id = $1) where account_id = $2",
      [one.id, other.id],
    );
    const asked = providers.simulator.requests.length;
    await other.pull();
    await expect.poll(async () => (await other.read())?.problem).toMatch(/sealed for something else/);
    expect((await other.read())?.state).toBe("behind");
    expect(providers.simulator.requests.length).toBe(asked);
  });
});

// The last one: it kills the service that the others use.
describe("A pull whose process is killed", () => {
  test("goes on after the last stored page, and seals the key with the newest key", async () => {
    const bill = billOf(20, 5);
    const asked: string[] = [];
    let arrived = () => {};
    const third = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { counted, sqlOf, id } = await withAccount("openai", bill, {
      pageSize: 5,
      beforeAnswer: ({ searchParams }) => {
        asked.push(new Date(Number(searchParams.get("start_time")) * 1000).toISOString().slice(0, 10));
        if (asked.length !== 3) return undefined;
        arrived();
        return held;
      },
    });
    await third;
    const [stored] = await sqlOf<{ day: string }>(
      "select next_day::text as day from public.provider_accounts where workspace_id = $1",
    );
    await harness.services[0]?.kill();
    release();
    harness.services.splice(0, 1);
    // The claim of the killed process expires by itself, after minutes.
    await sqlOf("update public.provider_accounts set leased_until = now() where workspace_id = $1");
    await harness.start({ ...settings(), SEALING_KEYS: `${key("second")},${key("first")}` });
    // The users' clients call the service that was killed.
    const through =
      "select pulled_through::text as day from public.provider_accounts where workspace_id = $1";
    await expect
      .poll(async () => (await sqlOf<{ day: string }>(through))[0]?.day)
      .toEqual(expect.any(String));
    expect(asked.slice(0, 3)).toEqual(Array.from({ length: 3 }, () => asked[0]));
    expect(asked[3]).toBe(stored?.day);
    expect((asked[3] ?? "") > (asked[0] ?? "")).toBe(true);
    expect(usdOf(await counted())).toBe(usdOf(bill));
    const [{ sealed = "" } = {}] = await sqlOf<{ sealed: string }>(
      "select sealed from private.provider_keys where workspace_id = $1 and account_id = $2",
      [id],
    );
    const [other] = await harness.fixtures.sql
      .query("select sealed from private.provider_keys where account_id <> $1 limit 1", [id])
      .then(({ rows }) => rows as { sealed: string }[]);
    expect(sealed.split(".")[1]).not.toBe(other?.sealed.split(".")[1]);
  });
});
