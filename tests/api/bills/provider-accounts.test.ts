import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { ProviderAccount } from "@/lib/contract/bills/provider-accounts";
import type { PulledProvider } from "@/lib/contract/bills/pulled-providers";
import { addAccount, billOf, daysAgo, lineOf, usdOf } from "@/tests/helpers/provider-accounts";
import { makeTeam } from "@/tests/helpers/team";
import { withProviders } from "@/tests/helpers/with-providers";
import type { Organization, TrueLine } from "@/tests/providers/simulator/simulate-providers";

// The service pulls in the background, and each test waits until its pulls have ended.
const providers = withProviders();
const withAccount = (provider: PulledProvider, bill: TrueLine[], change?: Partial<Organization>) =>
  addAccount(providers, provider, bill, change);

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
    const team = await makeTeam(providers.harness);
    const { admin } = team.users;
    const file = await admin.call("POST", `${team.path}/bills`, {
      name: "invoice.csv",
      content: `month,amount,provider\n${month},30,openai`,
    });
    const secret = `sk-admin-${randomUUID()}`;
    providers.simulator.add(secret, bill);
    const since = `${month}-01`;
    await admin.call("POST", `${team.path}/provider-accounts`, { provider: "openai", key: secret, since });
    const state = async () =>
      ((await admin.get(`${team.path}/provider-accounts`)).body as unknown as { accounts: ProviderAccount[] })
        .accounts[0];
    const billed = async () => {
      await expect.poll(async () => (await state())?.is_pulling, { interval: 200 }).toBe(false);
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
  const { users, path: home } = await makeTeam(providers.harness);
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
