import { formatUsd } from "@/components/money";
import { Time } from "@/components/time";

/**
 * Whether anything is likely to break without it: when a key or a connection was last used, and what it recorded.
 * @param props.spent USD this month, exact
 */
export function LastUse({ last_used_at: at, spent }: { last_used_at: string | null; spent: string }) {
  if (at === null) return <strong>It was never used.</strong>;
  return (
    <strong>
      It was last used <Time at={at} />
      {Number(spent) === 0 ? "." : ` and recorded ${formatUsd(spent)} this month.`}
    </strong>
  );
}
