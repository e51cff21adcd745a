import { beforeEach, expect, test } from "vitest";
import { type IngestRequest, ingestRequest } from "@/lib/contract/ledger/message";
import { parseDecimal, zero } from "@/lib/decimal";
import type { LoadedKey } from "@/lib/keys/admission-queries";
import type { ApiKey } from "@/lib/keys/api-key";
import { parseHeld } from "@/lib/keys/holds";
import { unlimitedKey } from "@/tests/helpers/unlimited-key";
import { Group } from "./group";

const now = Date.UTC(2026, 10, 21, 12);

function loadedKey(options: Partial<ApiKey>): LoadedKey {
  return {
    key: { ...unlimitedKey, permissions: ["log_usage", "add_expenses", "read_summaries"], ...options },
    usage: { spent: zero, window: { used: 0, freesAt: null } },
    windowTotal: 0,
    windowLatestAt: 0,
    pricesVersion: 0,
    closedUntil: null,
  };
}

let group: Group;
beforeEach(() => {
  const keys = [
    loadedKey({ id: "live" }),
    loadedKey({ id: "test", environment: "test" }),
    loadedKey({ id: "limited", monthlyLimit: parseDecimal("1") }),
  ];
  const admission = {
    now,
    tokens: new Map(),
    projects: [],
    replays: [],
    budgets: [],
    refused: [],
    held: parseHeld(null),
    reports: null,
  };
  group = new Group({ ...admission, keys: new Map(keys.map((key) => [key.key.id, key])) }, new Map());
});

const request = (message: object, outer: object = {}): IngestRequest =>
  ingestRequest.parse({ project: "shared", source: "api", message, ...outer });
const expense = (amount: number, outer?: object) => request({ type: "expense", vendor: "v", amount }, outer);
const allocation = (fields: object) =>
  request({ type: "allocation", from_project: "shared", ...fields }, { project: "search" });

/** The answers to a call of this group: amounts, or codes of refusals. */
async function admit(key: string, messages: IngestRequest[], dryRun = false): Promise<string[]> {
  const lookup = { by: "id", value: key } as const;
  const { outcome } = await group.admit({ lookup, address: undefined, dryRun, body: messages });
  if (outcome instanceof Error) throw outcome;
  return outcome.map((one) => {
    if (one instanceof Error) return one.code;
    const { amount_usd: amount } = one.result;
    return `${typeof amount === "number" ? amount : amount.text}${one.replayed ? " again" : ""}`;
  });
}

test("Charges a dry run to no limit that other calls of its group have", async () => {
  expect(await admit("limited", [expense(0.6), expense(0.6)], true)).toEqual([
    "0.6",
    "monthly_limit_exceeded",
  ]);
  expect(await admit("limited", [expense(0.6), expense(0.4), expense(0.1)])).toEqual([
    "0.6",
    "0.4",
    "monthly_limit_exceeded",
  ]);
  expect(await admit("limited", [expense(0.1)], true)).toEqual(["monthly_limit_exceeded"]);
});

test("Creates no project in a dry run that other calls of its group would find", async () => {
  await admit("live", [expense(1)], true);
  expect(group.draft.projects).toEqual([]);
  expect(await admit("live", [allocation({ amount: 1 })])).toEqual(["validation_failed"]);
  await admit("live", [expense(1)]);
  expect(group.draft.projects.map(({ slug }) => slug)).toEqual(["shared"]);
  expect(group.draft.messages.map((row) => row.project_id)).toEqual([group.draft.projects[0]?.id]);
});

test("Hides a dry run's answers, rows and spend from other calls, and shows it theirs", async () => {
  const once = { idempotency_key: "once" };
  expect(await admit("live", [expense(1, once), expense(1, once), expense(2, once)], true)).toEqual([
    "1",
    "1 again",
    "idempotency_conflict",
  ]);
  expect([group.draft.messages, group.draft.replays]).toEqual([[], []]);
  expect(await admit("live", [expense(2, once)], true)).toEqual(["2"]);
  expect(await admit("live", [expense(3, once)])).toEqual(["3"]);
  expect(await admit("live", [expense(3, once), allocation({ amount: 3 })], true)).toEqual(["3 again", "3"]);
  expect(await admit("live", [allocation({ amount: 3 }), allocation({ amount: 3 })])).toEqual([
    "3",
    "validation_failed",
  ]);
});

test("Counts what the group will write of the same environment for an allocation", async () => {
  await admit("live", [expense(10)]);
  await admit("test", [expense(500)]);
  expect(await admit("live", [allocation({ percent: 50 }), allocation({ amount: 5.01 })])).toEqual([
    "5",
    "validation_failed",
  ]);
  expect(await admit("test", [allocation({ percent: 50 }), allocation({ amount: 250 })])).toEqual([
    "250",
    "250",
  ]);
});
