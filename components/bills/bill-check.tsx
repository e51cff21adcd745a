import { formatCount } from "@/components/figures/format-count";
import { formatDays } from "@/components/figures/format-date";
import { formatList } from "@/components/figures/format-list";
import { formatUsd } from "@/components/figures/money";
import { Alert } from "@/components/ui/alert";
import type { AddedBill } from "@/lib/contract/bills/bills";

/** The content of a file that was read but not stored yet. */
export function BillCheck({ found }: { found: AddedBill }) {
  const { periods, amount_usd: amount, row_count: rows, columns, unused, jumps } = found;
  const providers = [...new Set(periods.map(({ provider }) => provider))];
  const firsts = periods.map(({ from }) => from).sort();
  const lasts = periods.map(({ to }) => to).sort();
  const replaced = periods.filter(({ former_usd: former }) => former !== null).length;
  return (
    <>
      <div className="grid gap-1.5 rounded-md border px-3.5 py-2.5 text-sm">
        <p>
          <strong>{formatUsd(amount)}</strong> of {formatList(providers)},{" "}
          {formatDays(firsts[0] ?? "", lasts.at(-1) ?? "")}, from {formatCount(rows, "row")}.
        </p>
        {found.left_out_count > 0 ? (
          <p>
            {formatCount(found.left_out_count, "row")} of other services than AI (
            {formatUsd(found.left_out_usd)}) are left out.
          </p>
        ) : null}
        {replaced > 0 ? (
          <p>
            It says something else of {formatCount(replaced, "day")} than the bills before, and counts in
            their place.
          </p>
        ) : null}
        <p className="text-muted-foreground text-xs [overflow-wrap:anywhere]">
          Read:{" "}
          {Object.entries(columns)
            .map(([field, column]) => `${field.replaceAll("_", " ")} from ${column}`)
            .join(", ")}
          .{unused.length > 0 ? ` Not read: ${unused.join(", ")}.` : ""}
        </p>
      </div>
      {jumps.map(({ provider, billed_usd: billed, recorded_usd: recorded }) => (
        <Alert key={provider} variant="warning">
          It bills {formatUsd(billed)} of {provider}; {formatUsd(recorded)} was recorded on these days. Are
          the amounts in cents?
        </Alert>
      ))}
    </>
  );
}
