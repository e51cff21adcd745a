import { expect, test } from "vitest";
import type { Telling } from "@/lib/ledger/telemetry/same-call";
import type { Submission } from "./call";
import { wantedOf } from "./telling-book";

const told = (likeness: number, started_us: number): Submission => {
  const times = { started_us, ended_us: started_us + 1_000 };
  const telling: Telling = {
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
    telling: { own: [], outer: [], inner: [], within: [], tellings: [telling] },
  };
};

test.each([
  ["one kind of calls", 1, 500],
  ["calls that all differ", 500, 1],
])("Has a bounded number of earlier tellings loaded for an export of %s", (_, kinds, ofEach) => {
  const submissions = Array.from({ length: kinds * ofEach }, (_, index) => told(1 + (index % kinds), index));
  const wanted = wantedOf(submissions, 3);
  expect(wanted).toHaveLength(kinds);
  expect(wanted[0]).toMatchObject({ teller: 3, from: 0, last_start: kinds * (ofEach - 1), first_end: 1_000 });
  const most = wanted.reduce((sum, each) => sum + each.most, 0);
  // Each telling may have several others, and the whole is what a process can read without others waiting for it.
  expect(most).toBeGreaterThan(4 * submissions.length);
  expect(most).toBeLessThanOrEqual(12_000);
});
