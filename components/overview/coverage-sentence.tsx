import { TriangleAlert } from "lucide-react";
import { nameOfMonth } from "@/components/bills/months";
import { formatPercent } from "@/components/figures/format-percent";
import { formatUsd } from "@/components/figures/money";
import { Link } from "@/components/ui/link";

/** A sentence that says how much of the billed costs is not recorded. @param props.billed USD as exact text, like `missing` */
export function CoverageSentence({
  workspace,
  month,
  billed,
  missing,
}: {
  workspace: string;
  month: string;
  billed: string;
  missing: string;
}) {
  const share = 1 - Number(missing) / Number(billed);
  return (
    <Link
      href={`/${workspace}/reconciliation?month=${month}`}
      prefetch={false}
      className="flex w-fit gap-2 rounded-sm text-sm hover:underline"
    >
      <TriangleAlert aria-hidden="true" className="mt-0.5 size-4 shrink-0 text-warning" />
      <span>
        {formatPercent(share)} of what providers billed in {nameOfMonth(month)} is recorded.{" "}
        {formatUsd(missing)} is not.
      </span>
    </Link>
  );
}
