import { describe, expect, test } from "vitest";
import { parseDecimal, sum, toText } from "@/lib/decimal";
import { exactClient } from "@/tests/helpers/ledger/client";
import { clientIn } from "@/tests/helpers/recording";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam } from "@/tests/helpers/team";

const harness = withSharedHarness();

type UserRow = {
  provider: string;
  kind: string;
  user: string | null;
  user_count: string;
  billed_usd: string;
  recorded_usd: string;
  adjusted_usd: string;
  difference_usd: string;
};
type Sums = Pick<UserRow, "provider" | "billed_usd" | "recorded_usd" | "adjusted_usd" | "difference_usd">;
type Detail = { users: UserRow[]; providers: Sums[] };

async function withTeam() {
  const team = await makeTeam(harness);
  const admin = exactClient(harness.services[0]?.baseUrl ?? "", team.users.admin.token);
  const key = await clientIn(harness, team.workspace);
  return {
    ...team,
    admin,
    addBill: async (content: string, more: object = {}) => {
      const { status, body } = await admin.send(`${team.path}/bills`, {
        name: "october.csv",
        content,
        ...more,
      });
      expect(status, JSON.stringify(body)).toBe(201);
    },
    /** Records usage in October, each of a day, a provider, a person and an amount in USD. */
    record: async (usage: [day: number, provider: string, user: string | null, usd: number][]) => {
      const messages = usage.map(([day, provider, user, usd]) => ({
        ...{ project: "checkout", source: "api" },
        message: {
          ...{ type: "usage", occurred_at: `2026-10-${String(day).padStart(2, "0")}T10:00:00Z`, provider },
          ...{ model: "m", unit_type: "requests", quantity: 1, estimated_cost: usd, ...(user && { user }) },
        },
      }));
      const { body } = await key.call("POST", "/api/v1/messages/batch", { messages });
      expect(body, JSON.stringify(body)).toMatchObject({ recorded: messages.length });
    },
    detail: async () =>
      (await admin.get(`${team.path}/reconciliation?month=2026-10`)).body.detail as unknown as Detail,
  };
}

const amounts = ["billed_usd", "recorded_usd", "adjusted_usd", "difference_usd"] as const;
const sumOf = (rows: Sums[], name: (typeof amounts)[number]) =>
  toText(sum(rows.map((row) => parseDecimal(row[name]))));

/** Expects that the rows of each provider with people sum to its amounts. */
function expectWhole({ users, providers }: Detail) {
  for (const provider of new Set(users.map((row) => row.provider))) {
    const whole = providers.find((one) => one.provider === provider);
    const own = users.filter((row) => row.provider === provider);
    for (const name of amounts) expect(sumOf(own, name), `${provider} ${name}`).toBe(whole?.[name]);
  }
}

const bill = [
  "day,amount,provider,user,key",
  "2026-10-05,1.000000000000000001,cursor,Ada@Example.com,k",
  "2026-10-06,2,cursor,ada@example.com,k",
  "2026-10-06,0.5,cursor,bo@example.com,k",
  "2026-10-06,0.25,cursor,,k",
  "2026-10-06,7,openai,,k",
].join("\n");

describe("A bill that names people", () => {
  test.each(["UTC", "Asia/Kolkata"])(
    "is compared by person, and its rows sum to the provider's, in a workspace of %s",
    async (zone) => {
      const { addBill, record, detail, workspace, admin, path } = await withTeam();
      await harness.fixtures.sql.query("update public.workspaces set time_zone = $2 where id = $1", [
        workspace,
        zone,
      ]);
      await addBill(bill);
      await record([
        [5, "cursor", "ADA@example.com", 1],
        [6, "Cursor", "ada@example.com", 1.5],
        [6, "cursor", "cy", 0.125],
        [7, "cursor", null, 0.0625],
        [6, "openai", "ada@example.com", 6],
      ]);
      const before = await detail();
      const shown = ({ users }: Detail) =>
        users.map((row) => [row.kind, row.user, row.billed_usd, row.recorded_usd, row.difference_usd]);
      expect(shown(before)).toEqual([
        ["user", "ada@example.com", "3.000000000000000001", "2.5", "0.500000000000000001"],
        ["user", "bo@example.com", "0.5", "0", "0.5"],
        ["user", "cy", "0", "0.125", "-0.125"],
        ["none", null, "0.25", "0.0625", "0.1875"],
      ]);
      expect(new Set(before.users.map(({ provider }) => provider))).toEqual(new Set(["cursor"]));
      expectWhole(before);
      const booking = { month: "2026-10", project: "checkout", provider: "cursor" };
      expect((await admin.send(`${path}/bill-adjustments`, booking)).status).toBe(201);
      const after = await detail();
      expect(after.users.find(({ kind }) => kind === "none")?.adjusted_usd).not.toBe("0");
      expectWhole(after);
    },
  );

  test("is exported by person; a provider whose bill names nobody has no such rows", async () => {
    const { addBill, users, path } = await withTeam();
    await addBill(bill);
    const answer = await fetch(`${harness.services[0]?.baseUrl}${path}/reconciliation/export?month=2026-10`, {
      headers: { authorization: `Bearer ${users.viewer.token}` },
    });
    const [names = [], ...lines] = (await answer.text())
      .trim()
      .split("\r\n")
      .map((line) => line.split(","));
    const rows = lines.map((cells) => Object.fromEntries(names.map((name, index) => [name, cells[index]])));
    expect(
      rows
        .filter(({ row }) => row === "user")
        .map(({ provider, user, billed_usd, unexplained_usd }) => [
          provider,
          user,
          billed_usd,
          unexplained_usd,
        ]),
    ).toEqual([
      ["cursor", "ada@example.com", "3.000000000000000001", ""],
      ["cursor", "bo@example.com", "0.5", ""],
      ["cursor", "", "0.25", ""],
    ]);
  });

  test("has the same parts of its difference as one that names nobody", async () => {
    const rows = (people: string[]) =>
      [
        "day,amount,provider,model,unit,quantity,list_amount,user",
        ...people.map(
          (user, at) => `2026-10-05,${at + 1},anthropic,m,input_tokens,${(at + 1) * 10},${at + 2},${user}`,
        ),
      ].join("\n");
    const explained: unknown[] = [];
    for (const people of [
      ["ada@example.com", "bo@example.com", ""],
      ["", "", ""],
    ]) {
      const { addBill, record, detail } = await withTeam();
      await addBill(rows(people));
      await record([[5, "anthropic", "ada@example.com", 2]]);
      const { users: _, ...rest } = await detail();
      explained.push(rest);
    }
    expect(explained[0]).toEqual(explained[1]);
  });

  test("may be a FOCUS file with a tag for people, and our own export", async () => {
    const columns =
      "BilledCost,BillingCurrency,BillingAccountId,ChargePeriodStart,ChargePeriodEnd,ProviderName,ServiceCategory";
    const row = (usd: string, rest: string) =>
      `${usd},USD,222,2026-10-05T00:00:00Z,2026-10-06T00:00:00Z,Microsoft,AI and Machine Learning,${rest}`;
    const tagged = await withTeam();
    await tagged.addBill(
      [`${columns},Tags`, row("4", `"{""owner"":""Ada@example.com""}"`), row("1", "{}")].join("\n"),
      { columns: { user: "Tags.owner" } },
    );
    const own = await withTeam();
    await own.addBill([`${columns},x_User`, row("4", "ada@example.com"), row("1", "")].join("\n"));
    for (const { detail } of [tagged, own])
      expect((await detail()).users.map(({ user, billed_usd: usd }) => [user, usd])).toEqual([
        ["ada@example.com", "4"],
        [null, "1"],
      ]);
  });
});
