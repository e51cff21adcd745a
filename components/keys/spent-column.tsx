import type { TableColumn } from "@/components/table/column";

/**
 * The column with what keys or connections recorded this month. A CSV also has their monthly limits.
 * @param shown the cell, and the classes of the column
 */
export const spentColumn = <Row extends { spent: string; monthly_limit: string | null }>(
  shown: Pick<TableColumn<Row>, "cell" | "className">,
): TableColumn<Row> => ({
  id: "spent",
  label: "Recorded this month",
  heading: (
    <>
      Recorded<span className="max-sm:sr-only"> this month</span>
    </>
  ),
  kind: "usd",
  value: ({ spent }) => spent,
  alsoSaved: [{ label: "Monthly limit", kind: "usd", value: ({ monthly_limit: limit }) => limit }],
  ...shown,
});
