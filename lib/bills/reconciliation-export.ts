import { requireMembership } from "@/lib/access/workspaces/membership";
import { differenceParts } from "@/lib/contract/bills/difference-parts";
import type { ReconciledDetail } from "@/lib/contract/bills/reconciliation";
import { type CsvCell, csvNumber, csvRow } from "@/lib/contract/values/csv";
import { asUserReading, type UserClaims } from "@/lib/db/transaction";
import { parseDecimal, toText } from "@/lib/decimal";
import { notFound } from "@/lib/errors";
import { loadClosedMonths } from "@/lib/ledger/closing/service";
import { loadWholeDetail } from "./reconciliation";

const partNames = Object.keys(differenceParts);

const header = [
  ...["row", "month", "provider", "from", "to", "model"],
  ...["billed_usd", "recorded_usd", "adjusted_usd", "difference_usd"],
  ...partNames.map((name) => `${name}_usd`),
  ...["filed_export_sha256", "user"],
];

/**
 * The reconciliation of a month as CSV, for members: a row `line` for each provider, period and model, a row `provider` with the sums of a
 * provider, a row `user` for each person at the providers whose bills name people, and for what names nobody, and a row `month` with the sums of all and, if the month is closed, the hash of its filed export.
 * @throws ServiceError not_found, also if the month has no bill
 */
export function exportReconciliation(
  claims: UserClaims,
  slug: string,
  month: string,
): Promise<{ text: string; fileName: string }> {
  return asUserReading(claims, async (client, now) => {
    const workspace = await requireMembership(client, claims, slug);
    const detail = await loadWholeDetail(client, { id: workspace.id, timeZone: workspace.time_zone }, month);
    if (!detail) throw notFound();
    const { months } = await loadClosedMonths(client, workspace, now);
    const closing = months.find((one) => one.month === month)?.closing;
    const cells = [...detail.cells].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
    const rows = [
      ...cells.map((cell) => toRow("line", month, cell, [cell.provider, cell.from, cell.to, cell.model])),
      ...detail.providers.map((one) => toRow("provider", month, one, [one.provider, null, null, null])),
      ...detail.users.map((one) => toUserRow(month, one)),
      toRow("month", month, detail, [null, null, null, null], closing?.sha256 ?? null),
    ];
    return { text: [header, ...rows].map(csvRow).join(""), fileName: `${slug}-${month}-reconciliation.csv` };
  });
}

/** A row of a person, or of what names nobody, which has no parts. */
const toUserRow = (
  month: string,
  { provider, user, ...sums }: ReconciledDetail["users"][number],
): CsvCell[] => [
  ...["user", month, provider, null, null, null],
  ...amountsOf(sums),
  ...partNames.map(() => null),
  ...[null, user],
];

const keyOf = ({ provider, from, model }: ReconciledDetail["cells"][number]) =>
  `${provider} ${from} ${model ?? ""}`;

type Amounts = Pick<ReconciledDetail, "billed_usd" | "recorded_usd" | "adjusted_usd" | "difference_usd">;
type Sums = Amounts & Pick<ReconciledDetail, "parts">;

const numberOf = (amount: Amounts["billed_usd"] | undefined): CsvCell =>
  csvNumber(
    amount === undefined ? "0" : toText(parseDecimal(typeof amount === "number" ? amount : amount.text)),
  );

const amountsOf = (sums: Amounts): CsvCell[] =>
  [sums.billed_usd, sums.recorded_usd, sums.adjusted_usd, sums.difference_usd].map(numberOf);

function toRow(
  kind: string,
  month: string,
  sums: Sums,
  [provider = null, from = null, to = null, model = null]: CsvCell[],
  sha256: string | null = null,
): CsvCell[] {
  return [
    ...[kind, month, provider, from, to, model],
    ...amountsOf(sums),
    ...partNames.map((name) => numberOf(sums.parts.find(({ part }) => part === name)?.amount_usd)),
    ...[sha256, null],
  ];
}
