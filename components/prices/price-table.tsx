"use client";

import { useMemo } from "react";
import { formatDate } from "@/components/figures/format-date";
import type { TableColumn } from "@/components/table/column";
import { DataTable } from "@/components/table/data-table";
import type { RememberedViews } from "@/components/table/view-cookie";
import { formatRate, type PriceView, startFromPrice } from "./price-view";
import { setPriceColumn } from "./set-price-column";

type Context = {
  workspace: string;
  canSet: boolean;
  /** The current UTC day, `YYYY-MM-DD`. */
  today: string;
};

/** A workspace's own prices, with the first day of each. Admins can change them. */
export function PriceTable({
  prices,
  views,
  workspace,
  canSet,
  today,
}: Context & { prices: PriceView[]; views: RememberedViews }) {
  const columns = useMemo(
    () => columnsOf({ workspace, canSet, today, prices }),
    [workspace, canSet, today, prices],
  );
  return (
    <DataTable
      id="prices"
      workspace={workspace}
      views={views}
      label="Own prices"
      noun="price"
      rows={prices}
      columns={columns}
      rowId={({ id }) => id}
    />
  );
}

const modelOf = ({ model }: PriceView) => model ?? "Every model";

function columnsOf({
  workspace,
  canSet,
  today,
  prices,
}: Context & { prices: PriceView[] }): TableColumn<PriceView>[] {
  const columns: TableColumn<PriceView>[] = [
    {
      id: "model",
      label: "Price of",
      part: "name",
      value: modelOf,
      alsoSaved: [
        { label: "Provider", value: ({ provider }) => provider },
        { label: "Unit", value: ({ unit_type: unit }) => unit },
      ],
      text: (price) => `${modelOf(price)} ${price.provider} ${price.unit_type}`,
      cell: (price) => (
        <>
          <bdi className="font-medium [overflow-wrap:anywhere]">{modelOf(price)}</bdi>
          <span className="block text-muted-foreground text-xs [overflow-wrap:anywhere] sm:in-data-[density=compact]:inline">
            <span className="hidden sm:in-data-[density=compact]:inline"> </span>
            {price.provider}, {price.unit_type}
          </span>
          <span className="block text-muted-foreground text-xs sm:hidden">
            from {formatDate(price.starts_at)}
          </span>
        </>
      ),
      className: "w-full min-w-24 sm:min-w-32",
    },
    {
      id: "rate",
      label: "US dollars per unit",
      heading: "US dollars",
      kind: "decimal",
      value: ({ rate }) => rate,
      text: ({ rate, unit_type: unit }) => `${formatRate(rate, unit)} ${rate}`,
      cell: ({ rate, unit_type: unit }) => formatRate(rate, unit),
      cellProps: ({ rate }) => ({ title: `$${rate} per unit`, "data-figure": "rate", "data-exact": rate }),
      className: "sm:whitespace-nowrap",
    },
    {
      id: "from",
      label: "From",
      kind: "time",
      value: ({ starts_at: at }) => at,
      cell: ({ starts_at: at }) => formatDate(at),
      cellProps: ({ starts_at: at }) => ({ title: at }),
      from: "sm",
      className: "whitespace-nowrap",
    },
  ];
  if (!canSet) return columns;
  return [
    ...columns,
    setPriceColumn({
      workspace,
      label: "Change price",
      button: "Change",
      startOf: (price) => startFromPrice(price, prices, today),
    }),
  ];
}
