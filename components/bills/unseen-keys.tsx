import { formatDays } from "@/components/figures/format-date";
import { Money } from "@/components/figures/money";
import { Link } from "@/components/ui/link";
import type { ReconciledDetail } from "@/lib/contract/bills/reconciliation";

/** Keys of providers that have billed costs, but whose usage no source reports. */
export function UnseenKeys({
  keys,
  workspace,
}: {
  keys: ReconciledDetail["unseen_keys"];
  workspace: string;
}) {
  return (
    <div className="grid gap-3 text-sm">
      <ul className="grid gap-2">
        {keys.map(({ provider, key, from, to, amount_usd: usd }) => (
          <li key={`${provider} ${key}`} className="max-w-[72ch] [overflow-wrap:anywhere]">
            The {provider} key <span className="font-medium">{key}</span> spent{" "}
            <Money usd={usd} inUsd className="font-medium" /> ({formatDays(from, to)}), and no source reports
            it.
          </li>
        ))}
      </ul>
      <Link href={`/${workspace}/sources`} className="w-fit underline underline-offset-4">
        Set up a source
      </Link>
    </div>
  );
}
