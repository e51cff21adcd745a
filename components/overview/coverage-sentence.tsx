import { TriangleAlert } from "lucide-react";
import { nameOfMonth } from "@/components/bills/months";
import { formatExactPercent } from "@/components/figures/format-percent";
import { formatUsd } from "@/components/figures/money";
import { Link } from "@/components/ui/link";

/** A sentence that says how much of the billed costs is not recorded. @param props.percent how much is @param props.missing USD as exact text */
export function CoverageSentence({
  workspace,
  month,
  percent,
  missing,
}: {
  workspace: string;
  month: string;
  percent: string;
  missing: string;
}) {
  return (
    <Link
      href={`/${workspace}/reconciliation?month=${month}`}
      prefetch={false}
      className="flex w-fit gap-2 rounded-sm text-sm hover:underline"
    >
      <TriangleAlert aria-hidden="true" className="mt-0.5 size-4 shrink-0 text-warning" />
      <span>
        {formatExactPercent(percent)} of what providers billed in {nameOfMonth(month)} is recorded.{" "}
        {formatUsd(missing)} is not.
      </span>
    </Link>
  );
}
