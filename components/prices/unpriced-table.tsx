"use client";

import { useMemo } from "react";
import { formatDigits } from "@/components/figures/format-count";
import { Time } from "@/components/figures/time";
import { activityHref } from "@/components/filters/href";
import type { TableColumn } from "@/components/table/column";
import { DataTable } from "@/components/table/data-table";
import type { RememberedViews } from "@/components/table/view-cookie";
import { Link } from "@/components/ui/link";
import { startFromUnpriced, type UnpricedView } from "./price-view";
import { setPriceColumn } from "./set-price-column";

type Context = { workspace: string; canSet: boolean };

/** Usage without a price, which counts as $0. Admins can set its price. */
export function UnpricedTable({
  unpriced,
  views,
  workspace,
  canSet,
}: Context & { unpriced: UnpricedView[]; views: RememberedViews }) {
  const columns = useMemo(() => columnsOf({ workspace, canSet, unpriced }), [workspace, canSet, unpriced]);
  return (
    <DataTable
      id="unpriced"
      workspace={workspace}
      views={views}
      label="Without a price"
      noun="model"
      rows={unpriced}
      columns={columns}
      rowId={({ provider, model, unit_type: unit }) => JSON.stringify([provider, model, unit])}
    />
  );
}

const modelOf = ({ model }: UnpricedView) => model ?? "No model";

function columnsOf({
  workspace,
  canSet,
  unpriced,
}: Context & { unpriced: UnpricedView[] }): TableColumn<UnpricedView>[] {
  const columns: TableColumn<UnpricedView>[] = [
    {
      id: "model",
      label: "What",
      part: "name",
      value: modelOf,
      alsoSaved: [
        { label: "Provider", value: ({ provider }) => provider },
        { label: "Unit", value: ({ unit_type: unit }) => unit },
      ],
      text: (each) => `${modelOf(each)} ${each.provider} ${each.unit_type}`,
      cell: (each) => <Model unpriced={each} workspace={workspace} />,
      className: "w-full min-w-32",
    },
    {
      id: "units",
      label: "Units",
      kind: "decimal",
      value: ({ quantity }) => quantity,
      text: ({ quantity }) => `${formatDigits(quantity)} ${quantity}`,
      cell: ({ quantity }) => formatDigits(quantity),
      cellProps: ({ quantity }) => ({ "data-figure": "quantity", "data-exact": quantity }),
    },
    {
      id: "lines",
      label: "Lines",
      kind: "count",
      value: ({ line_count: count }) => count,
      cell: ({ line_count: count }) => formatDigits(String(count)),
      from: "md",
    },
    {
      id: "since",
      label: "First occurred",
      kind: "time",
      value: ({ first_occurred_at: at }) => at,
      cell: ({ first_occurred_at: at }) => <Time at={at} />,
      from: "sm",
      className: "whitespace-nowrap",
    },
  ];
  if (!canSet) return columns;
  return [
    ...columns,
    setPriceColumn({
      workspace,
      label: "Set price",
      button: "Set price",
      startOf: (row) => startFromUnpriced(row, unpriced),
    }),
  ];
}

function Model({ unpriced, workspace }: { unpriced: UnpricedView; workspace: string }) {
  const { provider, model, unit_type: unit } = unpriced;
  return (
    <>
      <Link
        href={activityHref(workspace, {
          period: "all",
          environment: "live",
          provider,
          model,
          cost_status: "unpriced",
        })}
        prefetch={false}
        className="rounded-sm font-medium underline-offset-4 [overflow-wrap:anywhere] hover:underline"
      >
        <bdi>{modelOf(unpriced)}</bdi>
      </Link>
      <span className="block text-muted-foreground text-xs [overflow-wrap:anywhere] sm:in-data-[density=compact]:inline">
        <span className="hidden sm:in-data-[density=compact]:inline"> </span>
        {provider}, {unit}
      </span>
    </>
  );
}
