import { formatCount, formatNumber } from "@/components/figures/format-count";
import { formatDate } from "@/components/figures/format-date";
import { formatUsd } from "@/components/figures/money";
import { Time } from "@/components/figures/time";
import { Alert } from "@/components/ui/alert";
import { Badge } from "@/components/ui/badge";
import type { AccountState, ProviderAccount } from "@/lib/contract/bills/provider-accounts";
import { pulledProviders } from "@/lib/contract/bills/pulled-providers";
import { AccountActions } from "./account-actions";
import { Telemetry } from "./telemetry";

const states: Record<
  AccountState,
  { label: string; variant: "outline" | "success" | "warning" | "destructive" }
> = {
  never_ran: { label: "Not pulled yet", variant: "outline" },
  no_data: { label: "No costs yet", variant: "outline" },
  healthy: { label: "Up to date", variant: "success" },
  held: { label: "A day is held", variant: "warning" },
  refused: { label: "Refused", variant: "destructive" },
  behind: { label: "Behind", variant: "warning" },
};

/** An account as text: its provider, and its name if it has one. */
const nameOf = ({ provider, account }: ProviderAccount) =>
  [pulledProviders[provider].label, account].filter(Boolean).join(" ");

/** The accounts whose costs are pulled, with their states and actions. */
export function ProviderAccounts({
  accounts,
  workspace,
}: {
  accounts: ProviderAccount[];
  workspace: string;
}) {
  return (
    <ul aria-label="Provider accounts" className="grid divide-y rounded-lg border">
      {accounts.map((account) => (
        <li key={account.id} className="grid gap-2 px-4 py-3">
          <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
            <div className="grid min-w-0 gap-0.5 [overflow-wrap:anywhere]">
              <span className="flex flex-wrap items-center gap-2 font-medium">
                {nameOf(account)}
                {account.is_pulling ? (
                  <Badge variant="outline">Pulling</Badge>
                ) : (
                  <Badge variant={states[account.state].variant}>{states[account.state].label}</Badge>
                )}
              </span>
              <span className="text-muted-foreground text-xs">
                {account.pulled_through === null ? (
                  <Progress account={account} />
                ) : (
                  <>
                    {formatDate(account.since)} to {formatDate(account.pulled_through)}
                  </>
                )}
                {account.last_success_at === null ? null : (
                  <>
                    , pulled <Time at={account.last_success_at} />
                  </>
                )}
              </span>
              <Seats seats={account.seats} />
            </div>
            <AccountActions
              workspace={workspace}
              id={account.id}
              name={nameOf(account)}
              isPulling={account.is_pulling}
              isHeld={account.held !== null}
              isRegistered={account.telemetry !== null && account.telemetry.source_id !== null}
            />
          </div>
          <Problem account={account} />
          {account.telemetry === null ? null : (
            <Telemetry
              telemetry={account.telemetry}
              workspace={workspace}
              id={account.id}
              name={nameOf(account)}
            />
          )}
        </li>
      ))}
    </ul>
  );
}

/** How far the first pull has come, which may read a year. */
function Progress({
  account: { since, stored_through: through, is_pulling: isPulling },
}: {
  account: ProviderAccount;
}) {
  if (!isPulling || through === null) return <>From {formatDate(since)}</>;
  const days = (from: string, to: number) => Math.round((to - Date.parse(from)) / 86_400_000);
  return (
    <>
      From {formatDate(since)}, read to {formatDate(through)}:{" "}
      {formatNumber(days(since, Date.parse(through)) + 1)} of {formatCount(days(since, Date.now()), "day")}
    </>
  );
}

/** How many seats an account has, and what those cost that nobody used. */
function Seats({ seats }: Pick<ProviderAccount, "seats">) {
  if (seats === null) return null;
  const { count, unused_count: unused, unused_monthly_usd: usd } = seats;
  return (
    <span className="text-muted-foreground text-xs">
      {formatCount(count, "seat")},{" "}
      {unused === 0 ? (
        "all used in the last 30 days"
      ) : (
        <span className="text-foreground">
          {unused} not used for 30 days{usd === null ? null : <> ({formatUsd(usd)} a month)</>}
        </span>
      )}
    </span>
  );
}

/** Why an account is not up to date, and what to do about it. */
function Problem({ account: { state, problem, held } }: { account: ProviderAccount }) {
  if (problem !== null)
    return (
      <Alert className="[overflow-wrap:anywhere]">
        {problem}{" "}
        {state === "refused"
          ? "Remove the account, and add it with a key that may read costs. Its bills stay."
          : "It is tried again."}
      </Alert>
    );
  if (held === null) return null;
  return (
    <Alert>
      {formatDate(held.day)} is billed at {formatUsd(held.amount_usd)}, and a usual day at{" "}
      {formatUsd(held.usual_usd)}. The day is not counted until you accept it.
    </Alert>
  );
}
