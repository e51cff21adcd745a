import type { ClientBase } from "pg";
import {
  compare,
  type Decimal,
  divideMoney,
  multiply,
  parseDecimal,
  roundMoney,
  subtract,
  toText,
  zero,
} from "@/lib/decimal";
import { addMonths } from "@/lib/ledger/recurring/periods";
import { changePosting, type LockedPosting, lockPostings, restorePosting } from "./reconcile-queries";

/** A posting as it should be. */
type Wanted = {
  part: number;
  amount: Decimal;
  occurredAt: string;
  projectId: string;
  /** Whether the messages of its month were removed after it was recorded. Then it may be missing. */
  isRemoved?: boolean;
};

/**
 * Repairs the postings of a message: corrects amounts and restores missing postings. Changes nothing if the remaining postings do not
 * show what is right, for example if the first posting of an allocation is missing. Never deletes postings.
 */
export async function repairPostings(client: ClientBase, workspaceId: string, id: string): Promise<void> {
  const postings = await lockPostings(client, workspaceId, id);
  for (const wanted of wantedPostings(postings) ?? []) {
    const stored = postings.find(({ part }) => part === wanted.part);
    const amount = toText(wanted.amount);
    if (!stored && wanted.isRemoved) continue;
    if (!stored) await restorePosting(client, { workspaceId, id }, { ...wanted, amount });
    else if (compare(parseDecimal(stored.amount_usd), wanted.amount) !== 0) {
      await changePosting(client, { workspaceId, id }, wanted.part, amount);
    }
  }
}

function wantedPostings(postings: LockedPosting[]): Wanted[] | undefined {
  const [first] = postings;
  if (!first) return undefined;
  if (first.type === "allocation") return allocation(first);
  if (first.original_amount === null) return undefined;
  const charge = roundMoney(multiply(parseDecimal(first.original_amount), parseDecimal(first.rate ?? "1")));
  const at = first.occurred_at.toISOString();
  if (first.details?.interval !== "year") {
    return [{ part: 0, amount: charge, occurredAt: at, projectId: first.project_id }];
  }
  const startsOn = first.details.starts_on;
  if (startsOn === undefined) return undefined;
  const share = divideMoney(charge, parseDecimal("12"));
  const rest = subtract(charge, multiply(share, parseDecimal("11")));
  return Array.from({ length: 12 }, (_, part) => {
    const occurredAt = `${addMonths(startsOn, part)}${at.slice(10)}`;
    return {
      part,
      amount: part === 11 ? rest : share,
      occurredAt,
      projectId: first.project_id,
      isRemoved: first.removed_months.includes(occurredAt.slice(0, 7)),
    };
  });
}

/** The client was answered with the amount of the first posting. The second one takes the same amount from the other project. */
function allocation(first: LockedPosting): Wanted[] | undefined {
  if (first.part !== 0 || first.source_project_id === null) return undefined;
  const amount = parseDecimal(first.amount_usd);
  const occurredAt = first.occurred_at.toISOString();
  return [
    { part: 0, amount, occurredAt, projectId: first.project_id },
    { part: 1, amount: subtract(zero, amount), occurredAt, projectId: first.source_project_id },
  ];
}
