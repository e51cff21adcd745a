import type { CostMessage } from "@/lib/contract/ledger/message";
import { postedOn } from "@/lib/contract/values/clock";
import { dayOf, exactMs } from "@/lib/contract/values/instant";
import {
  add,
  compare,
  type Decimal,
  multiply,
  parseDecimal,
  roundMoney,
  shiftDecimal,
  zero,
} from "@/lib/decimal";
import { type Verdict, validationFailed } from "@/lib/errors";
import type { ApiKey } from "@/lib/keys/api-key";
import { addMonths } from "@/lib/ledger/recurring/periods";
import { type Composed, composeAllocation, occurredAt } from "./compose";
import type { Draft } from "./draft";

type Allocation = Extract<CostMessage, { type: "allocation" }>;

/** Asks for a project's spend in one environment, from the day `from` until before the day `until`, in the workspace's time zone. */
export type SpendRange = {
  workspace_id: string;
  project_id: string;
  environment: string;
  from: string;
  until: string;
};

/** Composes allocations within a group of calls. An allocation moves at most what its source has spent in that month. */
export class GroupAllocations {
  readonly #stored = new Map<string, Decimal>();

  /** The spend that must be loaded (`know`) before `compose`; none if the source does not exist. */
  rangesOf(key: ApiKey, message: Allocation, draft: Draft, now: number): SpendRange[] {
    const source = draft.projectId(key.workspaceId, message.from_project);
    if (source === undefined) return [];
    const { month, soFar } = rangesFrom(key, source, message, now);
    return message.percent === undefined ? [month] : [month, soFar];
  }

  /** Takes the stored spend of a range. @param amount USD as text */
  know(range: Omit<SpendRange, "workspace_id">, amount: string): void {
    this.#stored.set(keyOf(range), parseDecimal(amount));
  }

  /**
   * Composes an allocation to `project`, or refuses it. A refusal does not say what the source has spent: the key may lack the
   * permission to read it.
   */
  compose(key: ApiKey, project: string, message: Allocation, draft: Draft, now: number): Verdict<Composed> {
    const fail = (path: string, text: string) =>
      validationFailed([{ path: `message.${path}`, message: text }]);
    if (message.from_project === project)
      return fail("from_project", "must be another project than `project`");
    const source = draft.projectId(key.workspaceId, message.from_project);
    if (source === undefined)
      return fail("from_project", "there is no such project yet; record its cost first");
    const { month, soFar } = rangesFrom(key, source, message, now);
    const asked = message.amount === undefined ? "percent" : "amount";
    const amount =
      message.amount === undefined
        ? percentOf(this.#spent(soFar, draft), message.percent ?? "0")
        : parseDecimal(message.amount);
    if (compare(amount, zero) <= 0)
      return fail("percent", "from_project has spent nothing so far this month");
    if (compare(amount, this.#spent(month, draft)) > 0)
      return fail(
        asked,
        `must move no more than from_project has spent in ${month.from.slice(0, 7)} (${key.timeZone})`,
      );
    return composeAllocation(message, amount, now);
  }

  #spent(range: SpendRange, draft: Draft): Decimal {
    // A source project that this group creates has no stored spend.
    return add(this.#stored.get(keyOf(range)) ?? zero, draft.draftedSpend(range));
  }
}

/** `month`: the month whose spend limits an allocation. `soFar`: until the end of the allocation's day, the base of `percent`. */
function rangesFrom(key: ApiKey, source: string, message: Allocation, now: number) {
  const day = postedOn(key.timeZone, exactMs(occurredAt(message, now)));
  const from = `${day.slice(0, 7)}-01`;
  const dayAfter = dayOf(Date.parse(day) + 86_400_000);
  const owner = { workspace_id: key.workspaceId, project_id: source, environment: key.environment };
  return {
    month: { ...owner, from, until: addMonths(from, 1) } satisfies SpendRange,
    soFar: { ...owner, from, until: dayAfter } satisfies SpendRange,
  };
}

function percentOf(spent: Decimal, percent: string): Decimal {
  return roundMoney(shiftDecimal(multiply(spent, parseDecimal(percent)), -2));
}

function keyOf({ project_id, environment, from, until }: Omit<SpendRange, "workspace_id">): string {
  return `${project_id} ${environment} ${from} ${until}`;
}
