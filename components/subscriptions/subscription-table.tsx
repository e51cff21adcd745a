"use client";

import { useMemo } from "react";
import { formatDate } from "@/components/figures/format-date";
import { formatAmount } from "@/components/figures/money";
import { callApi } from "@/components/requests/api";
import { secondLine, type TableColumn } from "@/components/table/column";
import { compareDecimals } from "@/components/table/compare";
import { DataTable } from "@/components/table/data-table";
import type { RememberedViews } from "@/components/table/view-cookie";
import { Badge } from "@/components/ui/badge";
import { ConfirmButton } from "@/components/ui/confirm-dialog";
import type { recurringSubscription } from "@/lib/contract/ledger/subscriptions";
import { subscriptionsId } from "./subscription-id";
import type { SubscriptionView } from "./subscription-view";

type Context = {
  workspace: string;
  /** True for subscriptions without a next charge. */
  isPast?: boolean;
  canStop: boolean;
};

/** Recurring subscriptions with their next charge. A phone shows the day below the name. */
export function SubscriptionTable({
  subscriptions,
  views,
  label,
  workspace,
  isPast = false,
  canStop,
}: Context & { subscriptions: SubscriptionView[]; views: RememberedViews; label: string }) {
  const columns = useMemo(() => columnsOf({ workspace, isPast, canStop }), [workspace, isPast, canStop]);
  return (
    <DataTable
      id={isPast ? "past-subscriptions" : "subscriptions"}
      workspace={workspace}
      views={views}
      label={label}
      noun="subscription"
      rows={subscriptions}
      columns={columns}
      rowId={({ id }) => id}
    />
  );
}

const priceOf = ({ amount, currency }: SubscriptionView) => formatAmount(amount, currency);

function columnsOf({ workspace, isPast, canStop }: Context): TableColumn<SubscriptionView>[] {
  const columns: TableColumn<SubscriptionView>[] = [
    {
      id: "vendor",
      label: "Subscription",
      part: "name",
      value: ({ vendor }) => vendor,
      alsoSaved: [
        { label: "Plan", value: ({ plan }) => plan },
        { label: "Environment", value: ({ environment }) => environment },
      ],
      text: ({ vendor, plan, environment }) =>
        `${vendor} ${plan ?? ""} ${environment === "test" ? "test" : ""}`,
      cell: (subscription) => <Vendor subscription={subscription} />,
      className: "w-full min-w-32",
    },
    {
      id: "project",
      label: "Project",
      value: ({ project }) => project,
      cell: ({ project }) => project,
      from: "md",
    },
    {
      id: "day",
      label: isPast ? "Ended" : "Next charge",
      kind: "time",
      value: ({ next_on: next, stopped_at: stopped, ends_on: end }) => next ?? stopped ?? end,
      text: dayText,
      cell: (subscription) =>
        subscription.next_on ? (
          formatDate(subscription.next_on)
        ) : (
          <span className="text-muted-foreground">{dayText(subscription)}</span>
        ),
      from: "sm",
      className: "whitespace-nowrap",
    },
    {
      id: "amount",
      label: "Amount",
      kind: "decimal",
      value: ({ amount }) => amount,
      // Amounts of different currencies are not comparable.
      compare: (a, b) =>
        a.currency === b.currency
          ? compareDecimals(a.amount, b.amount)
          : a.currency.localeCompare(b.currency, "en-US"),
      alsoSaved: [
        { label: "Currency", value: ({ currency }) => currency },
        { label: "Per", value: ({ interval }) => interval },
      ],
      text: (subscription) => `${priceOf(subscription)} ${subscription.amount} per ${subscription.interval}`,
      cell: (subscription) => (
        <>
          {priceOf(subscription)}
          <span className="block text-muted-foreground text-xs sm:in-data-[density=compact]:inline">
            {" "}
            per {subscription.interval}
          </span>
        </>
      ),
      cellProps: ({ amount, currency }) => ({
        title: `${amount} ${currency}`,
        "data-figure": "amount",
        "data-exact": amount,
      }),
      className: "whitespace-nowrap",
    },
  ];
  if (!canStop) return columns;
  return [
    ...columns,
    {
      id: "actions",
      label: "Stop",
      part: "actions",
      cell: (subscription) => {
        const { id, vendor, next_on: next } = subscription;
        if (!next) return null;
        const charge = `${priceOf(subscription)} on ${formatDate(next)}`;
        return <StopSubscription workspace={workspace} id={id} vendor={vendor} next={charge} />;
      },
      className: "text-right",
      cellClassName: "py-2 in-data-[density=compact]:py-0.5",
    },
  ];
}

function Vendor({ subscription }: { subscription: SubscriptionView }) {
  const { vendor, plan, project, environment, next_on: next } = subscription;
  return (
    <>
      <span className="flex flex-wrap items-center gap-x-2">
        <bdi className="font-medium [overflow-wrap:anywhere]">{vendor}</bdi>
        {environment === "test" ? <Badge variant="outline">Test</Badge> : null}
      </span>
      {plan ? (
        <span className={`block text-muted-foreground text-xs [overflow-wrap:anywhere] ${secondLine}`}>
          {plan}
        </span>
      ) : null}
      <span className="block text-muted-foreground text-xs sm:hidden">
        {project}, {next ? `next on ${dayText(subscription)}` : dayText(subscription)}
      </span>
    </>
  );
}

/** The day of the next charge, or why there is none. */
function dayText({ next_on: next, stopped_at: stopped, ends_on: end }: SubscriptionView): string {
  if (next) return formatDate(next);
  if (stopped) return `stopped on ${formatDate(stopped)}`;
  return end ? `ended on ${formatDate(end)}` : "no further charges";
}

/** A button that stops the charges of a subscription, after a confirmation. */
function StopSubscription({
  workspace,
  id,
  vendor,
  next,
}: {
  workspace: string;
  id: string;
  vendor: string;
  /** The next charge, in words: "$45.00 on Dec 5, 2026". */
  next: string;
}) {
  const path = `/api/v1/workspaces/${workspace}/subscriptions/${id}`;
  return (
    <ConfirmButton
      label="Stop"
      aria-label={`Stop ${vendor}`}
      size="sm"
      title={`Stop ${vendor}?`}
      confirm="Stop"
      onConfirm={() => callApi<typeof recurringSubscription>("DELETE", path)}
      done={`${vendor} is stopped.`}
      focusAfter={subscriptionsId}
    >
      The next charge, <strong>{next}</strong>, and all later ones are not booked. Earlier charges stay. This
      does not cancel your contract with {vendor}. A stopped subscription cannot be resumed; to continue,
      record it again.
    </ConfirmButton>
  );
}
