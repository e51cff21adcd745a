import type { CostMessage } from "@/lib/contract/message";
import { type ServiceError, validationFailed } from "@/lib/errors";
import type { ApiKey } from "@/lib/keys/api-key";
import {
  add,
  compare,
  type Decimal,
  multiply,
  parseDecimal,
  roundMoney,
  shiftDecimal,
  zero,
} from "@/lib/pricing/decimal";
import { type Composed, composeAllocation, occurredAt } from "./compose";
import type { LedgerRow } from "./ledger";

type Allocation = Extract<CostMessage, { type: "allocation" }>;

/** What a project spent in a range of UTC days, from the first until before the second, in one environment. */
export type SpendRange = {
  workspace_id: string;
  project_id: string;
  environment: string;
  from: string;
  until: string;
};

/**
 * Works out allocations within a group: a percentage is of what its source has spent so far this month, the group's
 * earlier messages included.
 */
export class AllocationBook {
  readonly #stored = new Map<string, Decimal>();

  /**
   * @param pending the rows that the group is going to write, as they come to be
   * @param projectId the id of a project that exists, by workspace and slug
   */
  constructor(
    private readonly pending: readonly LedgerRow[],
    private readonly projectId: (workspaceId: string, slug: string) => string | undefined,
  ) {}

  /** What must be known of the database's spend before `compose`; undefined where nothing. */
  rangeOf(key: ApiKey, message: CostMessage, now: number): SpendRange | undefined {
    if (message.type !== "allocation" || message.percent === undefined) return undefined;
    const projectId = this.projectId(key.workspaceId, message.from_project);
    if (projectId === undefined) return undefined;
    const until = new Date(Date.parse(occurredAt(message, now)) + 86_400_000).toISOString().slice(0, 10);
    const from = `${occurredAt(message, now).slice(0, 7)}-01`;
    return {
      workspace_id: key.workspaceId,
      project_id: projectId,
      environment: key.environment,
      from,
      until,
    };
  }

  /** @param amount what the ledger holds of the range, USD as text */
  know(range: Omit<SpendRange, "workspace_id">, amount: string): void {
    this.#stored.set(keyOf(range), parseDecimal(amount));
  }

  /** The postings of an allocation to `project`, or what keeps it from being made. */
  compose(key: ApiKey, project: string, message: Allocation, now: number): Composed | ServiceError {
    const fail = (path: string, text: string) =>
      validationFailed([{ path: `message.${path}`, message: text }]);
    if (message.from_project === project) return fail("from_project", "must be another project than project");
    if (this.projectId(key.workspaceId, message.from_project) === undefined) {
      return fail("from_project", "there is no such project yet; record its cost first");
    }
    if (message.amount !== undefined) return composeAllocation(message, parseDecimal(message.amount), now);
    const range = this.rangeOf(key, message, now);
    const spent = range ? this.#spent(range) : zero;
    const amount = roundMoney(shiftDecimal(multiply(spent, parseDecimal(message.percent ?? "0")), -2));
    if (compare(amount, zero) <= 0)
      return fail("percent", "from_project has spent nothing so far this month");
    return composeAllocation(message, amount, now);
  }

  #spent(range: SpendRange): Decimal {
    return this.pending
      .filter(
        (row) =>
          row.project_id === range.project_id &&
          row.environment === range.environment &&
          row.occurred_at.slice(0, 10) >= range.from &&
          row.occurred_at.slice(0, 10) < range.until,
      )
      .reduce(
        (total, row) => add(total, parseDecimal(row.amount_usd)),
        this.#stored.get(keyOf(range)) ?? zero,
      );
  }
}

function keyOf({ project_id, environment, from, until }: Omit<SpendRange, "workspace_id">): string {
  return `${project_id} ${environment} ${from} ${until}`;
}
