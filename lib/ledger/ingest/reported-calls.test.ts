import { expect, test } from "vitest";
import { type CallReport, kindRank, type Relation } from "@/lib/ledger/telemetry/same-call";
import type { Submission } from "./call";
import type { LedgerRow } from "./ledger";
import type { ReportedCall } from "./reported-calls";
import { mostDetailed } from "./reported-postings";
import { wantedOf } from "./wanted-reports";

const told = (likeness: number, started_us: number): Submission => {
  const times = { started_us, ended_us: started_us + 1_000 };
  const report: CallReport = {
    likeness,
    scope: 1,
    trace: 1,
    ...times,
    ids: 0,
    cache: 0,
    rank: 8,
    emitter: "e",
  };
  return {
    project: "p",
    source: "api",
    message: { type: "usage", provider: "p", unit_type: "requests", quantity: "1" },
    callKeys: { own: [], outer: [], inner: [], within: [], reports: [report] },
  };
};

test.each([
  ["one kind of calls", 1, 500],
  ["calls that all differ", 500, 1],
])("Has a bounded number of earlier reports loaded for an export of %s", (_, kinds, ofEach) => {
  const submissions = Array.from({ length: kinds * ofEach }, (_, index) => told(1 + (index % kinds), index));
  const wanted = wantedOf(submissions, 3);
  expect(wanted).toHaveLength(kinds);
  expect(wanted[0]).toMatchObject({ teller: 3, from: 0, last_start: kinds * (ofEach - 1), first_end: 1_000 });
  const most = wanted.reduce((sum, each) => sum + each.most, 0);
  // Several others are loaded for each report, but in total no more than a process can read without delaying other requests.
  expect(most).toBeGreaterThan(4 * submissions.length);
  expect(most).toBeLessThanOrEqual(12_000);
});

test("Counts of two nested spans the richer one, of equals the inner one, with the names of both", () => {
  const posting = (cost: string, names: Partial<LedgerRow>): LedgerRow => ({
    ...{
      workspace_id: "w",
      id: "m",
      occurred_at: "2026-11-24T00:00:00.000Z",
      created_at: "2026-11-24T00:00:00.000Z",
    },
    ...{ project_id: "p", api_key_id: "k", type: "usage", source: "api", environment: "live" },
    ...{ amount_usd: cost, cost_status: "priced" },
    ...names,
  });
  const best = (rank: number, relation: Relation) => {
    const [known] = told(1, 0).callKeys?.reports ?? [];
    const reports = [{ ...(known as CallReport), rank: 2 * kindRank + 4 }];
    const recorded: ReportedCall = {
      messageId: "m",
      reports,
      postings: [posting("1", { end_user: "ada" })],
      isVoided: false,
    };
    const other = [{ ...(known as CallReport), rank }];
    return mostDetailed(recorded, { reports: other, postings: [posting("2", { session: "s" })], relation });
  };
  const joined = (cost: string) => [
    expect.objectContaining({ amount_usd: cost, end_user: "ada", session: "s" }),
  ];
  // Names do not make a span around a call more detailed.
  expect(best(2 * kindRank + 5, "around")).toEqual(joined("1"));
  expect(best(3 * kindRank, "around")).toEqual(joined("2"));
  expect(best(2 * kindRank, "inside")).toEqual(joined("2"));
  expect(best(kindRank + 5, "inside")).toEqual(joined("1"));
});
