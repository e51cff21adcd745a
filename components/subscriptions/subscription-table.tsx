import type { z } from "zod";
import { exactText } from "@/components/amount";
import { cn } from "@/components/cn";
import { formatDate } from "@/components/format-date";
import { formatAmount } from "@/components/money";
import { Badge } from "@/components/ui/badge";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import type { recurringSubscription } from "@/lib/contract/subscriptions";
import { StopSubscription } from "./stop-subscription";

type Subscription = z.output<typeof recurringSubscription>;

/** Recurring subscriptions with their next charge. A phone shows the day below the name. */
export function SubscriptionTable({
  subscriptions,
  workspace,
  label,
  isPast = false,
  canStop,
}: {
  subscriptions: Subscription[];
  workspace: string;
  label: string;
  /** True for subscriptions without a next charge. */
  isPast?: boolean;
  canStop: boolean;
}) {
  return (
    <Table aria-label={label}>
      <TableHeader>
        <TableRow>
          <TableHead className="pl-0">Subscription</TableHead>
          <TableHead className="hidden md:table-cell">Project</TableHead>
          <TableHead className="hidden sm:table-cell">{isPast ? "Ended" : "Next charge"}</TableHead>
          <TableHead className={cn("text-right", !canStop && "pr-0")}>Amount</TableHead>
          {canStop ? (
            <TableHead className="pr-0">
              <span className="sr-only">Stop</span>
            </TableHead>
          ) : null}
        </TableRow>
      </TableHeader>
      <TableBody>
        {subscriptions.map((subscription) => (
          <Row key={subscription.id} subscription={subscription} workspace={workspace} canStop={canStop} />
        ))}
      </TableBody>
    </Table>
  );
}

function Row({
  subscription,
  workspace,
  canStop,
}: {
  subscription: Subscription;
  workspace: string;
  canStop: boolean;
}) {
  const { id, vendor, plan, project, environment, amount, currency, interval, next_on: next } = subscription;
  const price = formatAmount(amount, currency);
  const nextDay = next && formatDate(next);
  return (
    <TableRow className="[&>td]:align-middle">
      <TableCell className="w-full min-w-32 pl-0">
        <span className="flex flex-wrap items-center gap-x-2">
          <span className="font-medium [overflow-wrap:anywhere]">{vendor}</span>
          {environment === "test" ? <Badge variant="outline">Test</Badge> : null}
        </span>
        {plan ? <span className="block text-muted-foreground text-xs">{plan}</span> : null}
        <span className="block text-muted-foreground text-xs sm:hidden">
          {project}, {nextDay ? `next on ${nextDay}` : formatEnd(subscription)}
        </span>
      </TableCell>
      <TableCell className="hidden md:table-cell">{project}</TableCell>
      <TableCell className="hidden whitespace-nowrap sm:table-cell">
        {nextDay ?? <span className="text-muted-foreground">{formatEnd(subscription)}</span>}
      </TableCell>
      <TableCell
        className={cn("whitespace-nowrap text-right tabular-nums", !canStop && "pr-0")}
        title={`${exactText(amount)} ${currency}`}
        data-figure="amount"
        data-exact={exactText(amount)}
      >
        {price}
        <span className="block text-muted-foreground text-xs">per {interval}</span>
      </TableCell>
      {canStop ? (
        <TableCell className="pr-0 text-right">
          {nextDay ? (
            <StopSubscription workspace={workspace} id={id} vendor={vendor} next={`${price} on ${nextDay}`} />
          ) : null}
        </TableCell>
      ) : null}
    </TableRow>
  );
}

/** Why there is no next charge. */
function formatEnd({ stopped_at: stopped, ends_on: end }: Subscription): string {
  if (stopped) return `stopped on ${formatDate(stopped)}`;
  return end ? `ended on ${formatDate(end)}` : "no further charges";
}
