import type { BillField } from "@/lib/contract/bills/bill-fields";

/** What each field is read from in a CUR 2.0 file: an export of the table `COST_AND_USAGE_REPORT` of AWS Data Exports. */
const columnsOf: Partial<Record<BillField, string>> = {
  day: "line_item_usage_start_date",
  amount: "line_item_unblended_cost",
  account: "bill_payer_account_id",
  line: "line_item_usage_type",
  unit: "pricing_unit",
  quantity: "line_item_usage_amount",
  user: "line_item_iam_principal",
  key: "line_item_iam_principal",
  list_amount: "pricing_public_on_demand_cost",
  currency: "line_item_currency_code",
};

/** Columns without which a file cannot be read. The others may be missing, such as the caller's identity, which an export includes or not. */
const needed = [
  ...["line_item_usage_start_date", "line_item_usage_end_date", "line_item_unblended_cost"],
  ...[
    "line_item_line_item_type",
    "line_item_usage_type",
    "line_item_product_code",
    "line_item_currency_code",
  ],
];

/** The columns that name a service and a model. `product` is a map; in a CSV file it is JSON. */
const others = [
  ...["product", "product_product_name", "product_servicecode", "line_item_line_item_description"],
  "line_item_operation",
];

/** Every column of CUR 2.0 that is read. */
export const curColumnsRead: readonly string[] = [
  ...new Set([...needed, ...others, ...Object.values(columnsOf)]),
];

/** Whether a file is an export of CUR 2.0, even one that leaves out columns. */
export const isCur = (header: readonly string[]): boolean =>
  header.filter((name) => name.startsWith("line_item_")).length >= 2;

/** The columns that a CUR 2.0 file needs and that it does not have. */
export const missingInCur = (header: readonly string[]): string[] =>
  needed.filter((name) => !header.includes(name));

/** Where the fields of a file are read from. */
export const curColumns = (header: readonly string[]): Partial<Record<BillField, string>> =>
  Object.fromEntries(Object.entries(columnsOf).filter(([, name]) => header.includes(name)));
