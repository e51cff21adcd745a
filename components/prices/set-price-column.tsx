import type { TableColumn } from "@/components/table/column";
import type { PriceStart } from "./price-view";
import { SetPrice } from "./set-price";

/**
 * The column of the buttons that set a price.
 * @param options.label names the column
 * @param options.button the text of each button
 * @param options.startOf returns the initial values of a row's form
 */
export const setPriceColumn = <Row extends { model: string | null; provider: string; unit_type: string }>({
  workspace,
  label,
  button,
  startOf,
}: {
  workspace: string;
  label: string;
  button: string;
  startOf: (row: Row) => PriceStart;
}): TableColumn<Row> => ({
  id: "actions",
  label,
  part: "actions",
  cell: (row) => (
    <SetPrice
      workspace={workspace}
      start={startOf(row)}
      label={button}
      of={`${row.model ?? row.provider}, ${row.unit_type}`}
    />
  ),
  className: "text-right",
  cellClassName: "py-2 in-data-[density=compact]:py-0.5",
});
