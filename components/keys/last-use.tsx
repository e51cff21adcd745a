import { formatMoney } from "@/components/figures/money";
import { Time } from "@/components/figures/time";

/**
 * When a key or a connection was last used and what it spent, to show whether removing it will break something.
 * @param props.spent exact USD in the current month
 */
export function LastUse({ last_used_at: at, spent }: { last_used_at: string | null; spent: string }) {
  if (at === null) return <strong>It was never used.</strong>;
  return (
    <strong>
      It was last used <Time at={at} />
      {Number(spent) === 0 ? "." : ` and recorded ${formatMoney(spent)} this month.`}
    </strong>
  );
}
