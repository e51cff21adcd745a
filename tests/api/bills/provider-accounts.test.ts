import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BillList } from "@/lib/contract/bills/bills";
import type { ProviderAccount } from "@/lib/contract/bills/provider-accounts";
import type { PulledProvider } from "@/lib/contract/bills/pulled-providers";
import { parseDecimal, sum, toText } from "@/lib/decimal";
import { withHarness } from "@/tests/helpers/harness";
import { makeTeam } from "@/tests/helpers/team";
import {
  type Organization,
  type Simulator,
  simulateProviders,
  type TrueLine,
} from "@/tests/providers/simulator/simulate-providers";

// One service and one simulator of providers: the service pulls in the background, and each test awaits how its pulls end.
const harness = withHarness({ services: 0 });
let simulator: Simulator;
const key = (name: string) => Buffer.from(name.padEnd(32, ".")).toString("base64");
const settings = () => ({ PROVIDER_URLS: simulator.providerUrls, SEALING_KEYS: key("first") });
beforeAll(async () => {
  simulator = await simulateProviders();
  await harness.start(settings());
});
afterAll(() => simulator.close());

const dayMs = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * dayMs).toISOString().slice(0, 10);

/** Amounts with more digits than a double has, so that a float would show. */
const lineOf = (daysBack: number, more: Partial<TrueLine> = {}): TrueLine => ({
  ...{ day: daysAgo(daysBack), model: "gpt-5", unit: "input_tokens", key: "key_prod", quantity: 1_000_000 },
  ...{ usd: `${1 + daysBack / 1000}0000000000001`, ...more },
});

/** A bill of some past days, two lines a day. */
const billOf = (first: number, last: number): TrueLine[] =>
  Array.from({ length: first - last + 1 }, (_, index) => first - index).flatMap((daysBack) => [
    lineOf(daysBack),
    lineOf(daysBack, { unit: "output_tokens", usd: "2.000000000000000001", quantity: 500 }),
  ]);

async function withAccount(provider: PulledProvider, bill: TrueLine[], change: Partial<Organization> = {}) {
  const team = await makeTeam(harness);
  const { admin } = team.users;
  const secret = `sk-admin-${randomUUID()}`;
  const organization = Object.assign(simulator.add(secret, bill), change);
  const path = `${team.path}/provider-accounts`;
  const account = provider === "github" ? "acme" : "";
  const added = await admin.call("POST", path, { provider, key: secret, account, since: daysAgo(20) });
  expect(added.status, JSON.stringify(added.body)).toBe(201);
  const id = String(added.body.id);
  const read = async () => {
    const { accounts } = (await admin.get(path)).body as unknown as { accounts: ProviderAccount[] };
    return accounts.find((each) => each.id === id);
  };
  const sqlOf = async <T>(text: string, values: unknown[] = []) =>
    (await harness.fixtures.sql.query(text, [team.workspace, ...values])).rows as T[];
  return {
    ...{ ...team, admin, secret, organization, path, id, read, sqlOf },
    /** Waits until no pull runs or is due. */
    ended: async () => {
      await expect.poll(async () => (await read())?.is_pulling).toBe(false);
      return (await read()) as ProviderAccount;
    },
    pull: (body: object = {}) => admin.call("POST", `${path}/${id}/pull`, body),
    bills: async () => ((await admin.get(`${team.path}/bills`)).body as unknown as BillList).bills,
    /** What counts of each day, by its facts. */
    counted: () =>
      sqlOf<{
        day: string;
        model: string;
        unit: string;
        usd: string;
        quantity: string | null;
        tier: string | null;
        list: string | null;
      }>(
        `select s.starts_on::text as day, f.model, f.unit, f.tier, trim_scale(f.amount_usd)::text as usd,
           trim_scale(f.list_usd)::text as list, trim_scale(f.quantity)::text as quantity
         from (select distinct on (starts_on) * from public.bill_statements where workspace_id = $1 order by starts_on, number desc) as s
         join public.billed_facts as f on f.workspace_id = s.workspace_id and f.statement_id = s.id
         order by 1, 2, 3, 4 nulls first`,
      ),
    statements: async () =>
      (
        await sqlOf<{ count: number }>(
          "select count(*)::int from public.bill_statements where workspace_id = $1",
        )
      )[0]?.count,
  };
}

const usdOf = (rows: { usd: string }[]) => toText(sum(rows.map(({ usd }) => parseDecimal(usd))));

describe("A pull", () => {
  test("stores every line of OpenAI to the last digit, over several pages, in bills by month", async () => {
    const bill = [...billOf(15, 6), lineOf(5, { unit: "web_searches", model: "web search", usd: "0.25" })];
    bill.push(lineOf(6, { tier: "batch", usd: "0.5" }));
    const { ended, counted, bills, sqlOf } = await withAccount("openai", bill, { pageSize: 3 });
    expect(await ended()).toMatchObject({ state: "healthy", problem: null, held: null });
    const facts = await counted();
    const sorted = (rows: unknown[]) => rows.map((row) => JSON.stringify(row)).sort();
    expect(
      sorted(
        facts
          .filter(({ unit }) => unit !== null)
          .map(({ day, model, unit, tier, usd, quantity }) => [day, model, unit, tier, usd, quantity]),
      ),
    ).toEqual(
      sorted(
        bill
          .filter(({ unit }) => unit !== "web_searches")
          .map(({ day, model, unit, tier, usd, quantity }) => [
            day,
            model,
            unit,
            tier ?? null,
            toText(parseDecimal(usd)),
            String(quantity),
          ]),
      ),
    );
    expect(usdOf(facts)).toBe(usdOf(bill));
    const stated = await sqlOf<{ usd: string }>(
      "select amount_usd::text as usd from public.bill_statements where workspace_id = $1",
    );
    expect(usdOf(stated)).toBe(usdOf(bill));
    const list = await bills();
    expect(new Set(list.map(({ name }) => name))).toEqual(
      new Set(bill.map(({ day }) => `openai ${day.slice(0, 7)}`)),
    );
    for (const one of list)
      expect(one).toMatchObject({ format: "pull", created_by: null, providers: ["openai"] });
  });

  test("reads Anthropic's cents as cents, with what is before discounts", async () => {
    const bill = [
      ...billOf(12, 8).map((line) => ({ ...line, model: "claude-opus-4-1", list: "4.5" })),
      lineOf(7, { unit: "web_searches", model: "claude-opus-4-1", usd: "0.01", list: "0.01" }),
    ];
    const { ended, counted } = await withAccount("anthropic", bill, { pageSize: 3 });
    expect(await ended()).toMatchObject({ state: "healthy" });
    const facts = await counted();
    expect(usdOf(facts)).toBe(usdOf(bill));
    expect(facts.map(({ list }) => list)).toEqual([...Array.from({ length: 10 }, () => "4.5"), "0.01"]);
    const countsOf = (lines: { day: string; unit: string; quantity: unknown }[]) =>
      lines.map(({ day, unit, quantity }) => `${day} ${unit} ${quantity}`).sort();
    expect(countsOf(facts as { day: string; unit: string; quantity: unknown }[])).toEqual(countsOf(bill));
  });

  test("reads Anthropic's older report where an organization has no access to the newer one", async () => {
    const bill = billOf(12, 8);
    const { ended, counted } = await withAccount("anthropic", bill, { hasAnalytics: false, pageSize: 3 });
    expect(await ended()).toMatchObject({ state: "healthy", problem: null });
    expect(usdOf(await counted())).toBe(usdOf(bill));
  });

  test("reads OpenRouter's activity", async () => {
    const bill = billOf(12, 8);
    const { ended, counted } = await withAccount("openrouter", bill);
    expect(await ended()).toMatchObject({ state: "healthy" });
    expect(usdOf(await counted())).toBe(usdOf(bill));
  });

  test("reads Cursor's events as cents, over several pages, and what the plan includes as free", async () => {
    const bill = [
      ...billOf(12, 8).map((line) => ({ ...line, model: "claude-4.5-sonnet" })),
      lineOf(7, { usd: "0", list: "3.25" }),
    ];
    const { ended, counted, sqlOf } = await withAccount("cursor", bill, { pageSize: 1 });
    expect(await ended()).toMatchObject({ state: "healthy", problem: null });
    const facts = await counted();
    expect(usdOf(facts)).toBe(usdOf(bill));
    expect(facts.filter(({ day }) => day === daysAgo(7))).toMatchObject([{ usd: "0", list: "3.25" }]);
    expect(new Set(facts.map(({ unit }) => unit))).toEqual(new Set(["requests"]));
    expect(
      JSON.stringify(await sqlOf("select * from public.billed_facts where workspace_id = $1")),
    ).not.toContain("ada@example.com");
  });

  test("reads GitHub's credits, premium requests and seats, and none of them twice", async () => {
    const bill = [
      ...billOf(12, 8).map((line) => ({ ...line, list: "4.5" })),
      lineOf(8, { tier: "batch", usd: "0.04", quantity: 1 }),
      lineOf(8, { unit: "web_searches", model: "seat", usd: "0.633333333333333333", quantity: 1 }),
    ];
    for (const isOld of [false, true]) {
      const { ended, counted, sqlOf } = await withAccount("github", bill, { isOld });
      expect(await ended()).toMatchObject({ state: "healthy", problem: null, account: "acme" });
      const facts = await counted();
      expect(usdOf(facts)).toBe(usdOf(bill));
      // Without the report of credits, the one of all products has them, without models.
      expect(facts.filter(({ model, list }) => model === "gpt-5" && list === "9").length).toBe(isOld ? 0 : 5);
      expect(facts.filter(({ list }) => list === "9").length).toBe(5);
      const lines = await sqlOf<{ line: string }>(
        "select distinct line from public.billed_facts where workspace_id = $1 order by 1",
      );
      expect(lines.map(({ line }) => line)).toEqual([
        "Copilot AI Credits",
        "Copilot Business",
        "Copilot Premium Request",
      ]);
    }
  });

  test("counts the seats of GitHub and Cursor, and those that nobody used for 30 days, in money where it is known", async () => {
    const seats = Array.from({ length: 150 }, (_, index) => ({
      email: `${index}@example.com`,
      lastUsed: index === 0 ? null : index === 1 ? daysAgo(40) : daysAgo(index % 29),
    }));
    const bill = [lineOf(1, { unit: "web_searches", usd: "0.63", quantity: 1 })];
    const github = await withAccount("github", bill, { seats });
    expect((await github.ended()).seats).toEqual({
      ...{ count: 150, unused_count: 2, monthly_usd: 19, unused_monthly_usd: 38 },
    });
    const cursor = await withAccount("cursor", billOf(3, 2), { seats });
    expect((await cursor.ended()).seats).toEqual({
      ...{ count: 150, unused_count: 2, monthly_usd: null, unused_monthly_usd: null },
    });
    expect((await (await withAccount("openai", [])).ended()).seats).toBeNull();
  });

  test("needs the organization of GitHub by its name", async () => {
    const { admin, path } = await withAccount("openai", []);
    for (const account of ["", "github.com/acme", "-acme"]) {
      const { status, body } = await admin.call("POST", path, { provider: "github", key: "k", account });
      expect([status, body.error_description]).toEqual([
        400,
        expect.stringMatching(/organization at GitHub/),
      ]);
    }
  });

  test("reads older answers, which lack fields", async () => {
    const bill = billOf(9, 8);
    const { ended, counted } = await withAccount("openai", bill, { isOld: true });
    expect(await ended()).toMatchObject({ state: "healthy" });
    expect((await counted()).map(({ quantity }) => quantity)).toEqual([null, null, null, null]);
    expect(usdOf(await counted())).toBe(usdOf(bill));
  });

  test("that finds the same again changes nothing", async () => {
    const { ended, pull, bills, statements } = await withAccount("anthropic", billOf(12, 1));
    const first = await ended();
    const [before, count] = [await bills(), await statements()];
    expect((await pull()).status).toBe(202);
    const second = await ended();
    expect(second.last_success_at).not.toBe(first.last_success_at);
    expect(await bills()).toEqual(before);
    expect(await statements()).toBe(count);
  });

  test("replaces what the provider has corrected since, and keeps what it said before", async () => {
    for (const [provider, daysBack] of [
      ["openai", 1],
      ["anthropic", 10],
    ] as const) {
      const { ended, pull, organization, bills, counted, statements } = await withAccount(
        provider,
        billOf(12, 1),
      );
      await ended();
      const count = (await statements()) ?? 0;
      const corrected = organization.bill.find(({ day }) => day === daysAgo(daysBack));
      if (!corrected) throw new Error("The bill has no such day.");
      const former = usdOf(organization.bill.filter(({ day }) => day === corrected.day));
      corrected.usd = "7.5";
      await pull();
      expect((await ended()).state).toBe("healthy");
      expect(await statements()).toBe(count + 1);
      expect(usdOf(await counted())).toBe(usdOf(organization.bill));
      const changes = (await bills()).flatMap((one) => one.changes);
      expect(changes).toMatchObject([{ from: corrected.day, former_usd: Number(former), amount_usd: 9.5 }]);
      const all = await bills();
      for (const one of all) expect(one.amount_usd).toEqual(one.counted_usd);
    }
  });

  test("waits as the provider asks where it is throttled, and then ends", async () => {
    const bill = billOf(9, 8);
    const { ended, counted } = await withAccount("openai", bill, { throttled: 1, retryAfter: "1" });
    await expect.poll(async () => (await ended()).state, { timeout: 90_000 }).toBe("healthy");
    expect(usdOf(await counted())).toBe(usdOf(bill));
  });

  test("leaves a day without costs out until it can no longer change", async () => {
    const { ended, sqlOf } = await withAccount("openai", [lineOf(9), lineOf(7)]);
    await ended();
    const days = await sqlOf<{ day: string; usd: string }>(
      "select starts_on::text as day, amount_usd::text as usd from public.bill_statements where workspace_id = $1 order by 1",
    );
    expect(days.slice(0, 3).map(({ day }) => day)).toEqual([daysAgo(9), daysAgo(8), daysAgo(7)]);
    expect(days.some(({ day }) => day >= daysAgo(2))).toBe(false);
  });
});

describe("An account", () => {
  test("of an organization that was billed nothing has no data yet", async () => {
    const { ended, bills } = await withAccount("openai", []);
    expect(await ended()).toMatchObject({ state: "no_data", problem: null });
    expect(await bills()).toEqual([]);
  });

  test("whose key is refused says so in the provider's own words, without the key", async () => {
    const refusal = "The key {key} was revoked by grace@example.com.";
    const { ended, secret } = await withAccount("openai", billOf(9, 8), { refusal });
    const account = await ended();
    expect(account).toMatchObject({
      state: "refused",
      problem: "It answers 401: The key … was revoked by grace@example.com.",
    });
    expect(JSON.stringify(account)).not.toContain(secret);
  });

  test("holds a day of twenty times the usual amount until an admin accepts it", async () => {
    const bill = [...billOf(15, 5), lineOf(4, { usd: "900" }), lineOf(3, { usd: "2" })];
    const { ended, counted, pull, statements } = await withAccount("anthropic", bill);
    const held = await ended();
    expect(held).toMatchObject({ state: "held", held: { day: daysAgo(4), amount_usd: 900 } });
    expect(Number(held.held?.usual_usd)).toBeCloseTo(3.01, 2);
    expect((await counted()).some(({ day }) => day === daysAgo(4))).toBe(false);
    expect((await counted()).some(({ day }) => day === daysAgo(3))).toBe(true);
    const count = (await statements()) ?? 0;
    await pull();
    expect((await ended()).state).toBe("held");
    expect(await statements()).toBe(count);
    await pull({ accept_jump: true });
    expect(await ended()).toMatchObject({ state: "healthy", held: null });
    expect(usdOf(await counted())).toBe(usdOf(bill));
  });

  test("is one for the same costs: a second one of the provider needs a name, and so does the first", async () => {
    const { admin, path, id, ended } = await withAccount("openai", billOf(9, 8));
    await ended();
    const another = { provider: "openai", key: "sk-admin-another", account: "research" };
    const taken = await admin.call("POST", path, another);
    expect(taken.status).toBe(409);
    expect(taken.body.error_description).toMatch(/different names in account/);
    expect((await admin.call("DELETE", `${path}/${id}`)).status).toBe(200);
    for (const account of ["research", "product"])
      expect((await admin.call("POST", path, { ...another, account })).status).toBe(201);
  });

  test("is refused with what is wrong with its first day", async () => {
    const { admin, path } = await withAccount("openai", []);
    for (const [since, why] of [
      [daysAgo(-2), /before today/],
      [daysAgo(400), /at most a year ago/],
    ] as const) {
      const { status, body } = await admin.call("POST", path, { provider: "anthropic", key: "k", since });
      expect([status, body.error_description]).toEqual([400, expect.stringMatching(why)]);
    }
  });

  test("that is removed leaves its bills, and its key is gone", async () => {
    const { admin, path, id, slug, ended, bills, sqlOf } = await withAccount("openai", billOf(9, 8));
    const remove = (bill: string | undefined) =>
      admin.call("DELETE", `/api/v1/workspaces/${slug}/bills/${bill}`);
    await ended();
    const [first] = await bills();
    const refused = await remove(first?.id);
    expect(refused.status).toBe(409);
    expect(refused.body.error_description).toMatch(/Remove the provider account first/);
    expect((await admin.call("DELETE", `${path}/${id}`)).status).toBe(200);
    expect(await sqlOf("select from private.provider_keys where workspace_id = $1")).toEqual([]);
    expect((await bills()).map(({ provider_account_id: from }) => from)).not.toContain(id);
    expect((await bills()).length).toBeGreaterThan(0);
    for (const one of await bills()) expect((await remove(one.id)).status).toBe(200);
  });

  test("that is removed with its bills leaves neither, nor billed history", async () => {
    const { admin, path, id, slug, ended, bills } = await withAccount("openai", billOf(9, 8));
    const history = async () =>
      (await admin.get(`/api/v1/workspaces/${slug}/billed-history`)).body as { days: unknown[] };
    expect((await ended()).stored_through).toBeNull();
    expect((await history()).days.length).toBe(2);
    expect((await admin.call("DELETE", `${path}/${id}?bills=delete`)).status).toBe(200);
    expect([await bills(), (await history()).days]).toEqual([[], []]);
  });

  test("leaves days to a file that bills the whole month, and takes them when that is deleted", async () => {
    const month = daysAgo(32).slice(0, 7);
    const bill = Array.from({ length: 28 }, (_, index) =>
      lineOf(0, { day: `${month}-${String(index + 1).padStart(2, "0")}`, usd: "1" }),
    );
    const team = await makeTeam(harness);
    const { admin } = team.users;
    const file = await admin.call("POST", `${team.path}/bills`, {
      name: "invoice.csv",
      content: `month,amount,provider\n${month},30,openai`,
    });
    const secret = `sk-admin-${randomUUID()}`;
    simulator.add(secret, bill);
    const since = `${month}-01`;
    await admin.call("POST", `${team.path}/provider-accounts`, { provider: "openai", key: secret, since });
    const state = async () =>
      ((await admin.get(`${team.path}/provider-accounts`)).body as unknown as { accounts: ProviderAccount[] })
        .accounts[0];
    const billed = async () => {
      await expect.poll(async () => (await state())?.is_pulling).toBe(false);
      const { body } = await admin.get(`${team.path}/reconciliation?month=${month}`);
      return (body as { months: { month: string; billed_usd: number }[] }).months.find(
        (one) => one.month === month,
      )?.billed_usd;
    };
    expect(await billed()).toBe(30);
    expect((await admin.call("DELETE", `${team.path}/bills/${file.body.id}`)).status).toBe(200);
    expect(await billed()).toBe(28);
  });
});

test("A folder of exports is refused with what is wrong with its address, and no internal store is asked", async () => {
  const { users, path: home } = await makeTeam(harness);
  const path = `${home}/provider-accounts`;
  const add = (body: object) => users.admin.call("POST", path, { key: "AKIA:secret", ...body });
  for (const [body, why] of [
    [{ provider: "aws" }, /folder: must be the address of a bucket/],
    [{ provider: "aws", folder: "https://storage.googleapis.com/" }, /folder: must be the address/],
    [{ provider: "azure", folder: "https://a.blob.core.windows.net/c?sig=secret" }, /folder: must be/],
    [{ provider: "openai", folder: "https://storage.googleapis.com/bills" }, /folder: is of clouds alone/],
  ] as const) {
    const { status, body: answer } = await add(body);
    expect([status, answer.error_description]).toEqual([400, expect.stringMatching(why)]);
  }
  for (const [provider, folder, why] of [
    ["aws", "http://127.0.0.1:1/bills/exports", /must begin with https/],
    ["google", "https://127.0.0.1:1/bills/exports", /not public/],
    ["azure", "https://169.254.169.254/latest/meta-data/x", /not public/],
  ] as const) {
    const { status, body } = await add({ provider, folder });
    expect([status, body.folder]).toEqual([201, folder]);
    const read = async () => {
      const { accounts } = (await users.admin.get(path)).body as unknown as { accounts: ProviderAccount[] };
      return accounts.find(({ id }) => id === body.id);
    };
    await expect.poll(async () => (await read())?.state).toBe("behind");
    expect((await read())?.problem).toMatch(why);
    expect((await users.admin.call("DELETE", `${path}/${body.id}`)).status).toBe(200);
  }
});

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
    const asked = simulator.requests.length;
    await other.pull();
    await expect.poll(async () => (await other.read())?.problem).toMatch(/sealed for something else/);
    expect((await other.read())?.state).toBe("behind");
    expect(simulator.requests.length).toBe(asked);
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
