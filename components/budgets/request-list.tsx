import { exactText } from "@/components/figures/amount";
import { formatDay } from "@/components/figures/format-date";
import { formatAmount } from "@/components/figures/money";
import { Time } from "@/components/figures/time";
import { Badge } from "@/components/ui/badge";
import type { BudgetRequest } from "@/lib/contract/spend/budget-requests";
import { DecideRequest, WithdrawRequest } from "./decide-request";
import { requestRowId } from "./request-row-id";

const states = {
  pending: { label: "Waiting", variant: "warning" },
  approved: { label: "Approved", variant: "success" },
  denied: { label: "Denied", variant: "outline" },
  withdrawn: { label: "Withdrawn", variant: "outline" },
  expired: { label: "Expired", variant: "outline" },
} as const;

/** Requests to raise budgets and limits of keys, each with the actions that the reader may take. */
export function RequestList({
  workspace,
  requests,
  label,
}: {
  workspace: string;
  requests: BudgetRequest[];
  label: string;
}) {
  return (
    <ul aria-label={label} className="grid gap-3">
      {requests.map((request) => (
        <Request
          key={request.id}
          request={request}
          path={`/api/v1/workspaces/${workspace}/budget-requests/${request.id}`}
        />
      ))}
    </ul>
  );
}

function Request({ request, path }: { request: BudgetRequest; path: string }) {
  const { budget, limited_key: key, state, amount, percent, reason, until, created_at: at } = request;
  const currency = budget?.currency ?? "USD";
  const author = authorOf(request);
  const { label, variant } = states[state];
  return (
    // Mails and messages link here.
    <li
      id={requestRowId(request.id)}
      tabIndex={-1}
      className="grid gap-4 rounded-lg border bg-card p-4 text-sm target:ring-2 target:ring-ring"
    >
      <div className="grid gap-1">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <span className="font-medium [overflow-wrap:anywhere]">
            {author} asks for {formatAmount(amount, currency)} more of{" "}
            {key ? "the monthly limit of the key " : null}
            <bdi>{key?.name ?? budget?.name ?? "a deleted budget"}</bdi>
          </span>
          <Badge variant={variant}>{label}</Badge>
        </p>
        <p className="text-muted-foreground text-xs">
          {percent === null ? "Until" : `${exactText(percent)}% of the limit, until`} {formatDay(until)} ·{" "}
          <Time at={at} />
        </p>
        <p className="[overflow-wrap:anywhere]">{reason}</p>
        <Decision request={request} currency={currency} />
      </div>
      {request.can_decide ? (
        <DecideRequest
          path={path}
          author={author}
          currency={currency}
          most={exactText(request.most ?? amount)}
          until={request.ends_with_raise ?? until}
          isFixed={request.ends_with_raise !== null}
        />
      ) : null}
      {request.can_withdraw ? (
        <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
          <WithdrawRequest path={path} />
          <span className="text-muted-foreground text-xs">
            Somebody else decides: nobody may decide their own request.
          </span>
        </div>
      ) : null}
    </li>
  );
}

function authorOf({ asked_by: person, key }: BudgetRequest): string {
  if (key) return `The key ${key.name}`;
  return person?.name ?? "Somebody who has left";
}

/** How a request was decided, by whom, and with which comment. */
function Decision({ request: { decision }, currency }: { request: BudgetRequest; currency: string }) {
  if (!decision) return null;
  const { amount, until, answer, by, at, in_slack: inSlack } = decision;
  return (
    <p className="text-muted-foreground [overflow-wrap:anywhere]">
      {by?.name ?? "Somebody who has left"}{" "}
      {amount === null || until === null
        ? "denied it"
        : `granted ${formatAmount(amount, currency)} until ${formatDay(until)}`}{" "}
      {inSlack ? "in Slack " : null}
      <Time at={at} />
      {answer === null ? "." : `: ${answer}`}
    </p>
  );
}
