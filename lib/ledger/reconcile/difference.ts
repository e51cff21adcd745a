/** The comparisons of a reconciliation: what is compared with what. */
export const differenceKinds = {
  daily_spend: "a day's sum and the messages of that day",
  daily_totals: "a day's total by one dimension and the messages of that day",
  monthly_spend: "a month's sum of folded days and the sums of these days",
  monthly_totals: "a month's total of folded days and the totals of these days",
  removed: "the sums of a month whose messages were removed and the totals noted then",
  key_spend: "a key's spend in a month and the messages recorded with it",
  posting: "a message and its postings",
  lines: "the amount by which a message with lines is sorted and the sum of its lines",
  void: "a voided message and its void, which sum to zero",
  idempotency: "an idempotency key and the message it answers with",
  closed_month: "the filed figures of a closed month and its sums now; --repair leaves them",
  budget: "a budget's spend in a period and the messages of that period",
} as const;
export type Kind = keyof typeof differenceKinds;

/** A stored figure that differs from the sum of its messages. Figures are exact text. */
export type Difference = {
  workspace_id: string;
  /** The workspace's slug, or its id if the workspace no longer exists. */
  workspace: string;
  kind: Kind;
  /** The figure's coordinates, from the widest to the narrowest: day, project, key. */
  where: Record<string, string | null>;
  figure: string;
  stored: string;
  actual: string;
  difference: string;
};

/** Formats a difference as two lines of text. */
export function describeDifference({ workspace, kind, where, figure, ...figures }: Difference): string {
  const place = Object.entries(where)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`);
  const { stored, actual, difference } = figures;
  return `${workspace}: ${kind.replaceAll("_", " ")}, ${place.join(", ")}\n    ${figure}: stored ${stored}, actual ${actual}, difference ${difference}`;
}
