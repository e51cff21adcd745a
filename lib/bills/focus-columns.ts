import type { BillField } from "@/lib/contract/bills/bill-fields";

/** Columns that every version of FOCUS has, and nothing else. */
const identifyingColumns = ["BilledCost", "ChargePeriodStart", "ChargePeriodEnd", "BillingCurrency"];

/** Whether a file with these column names is a FOCUS export. */
export const isFocus = (header: readonly string[]): boolean =>
  identifyingColumns.every((name) => header.includes(name));

/** Where each field is found: the first of these columns that a file has. `ServiceProviderName` is that of FOCUS 1.3. */
const columnsOf: Partial<Record<BillField, readonly string[]>> = {
  day: ["ChargePeriodStart"],
  amount: ["BilledCost"],
  provider: ["ServiceProviderName", "ProviderName"],
  account: ["BillingAccountId"],
  line: ["ChargeDescription", "SkuMeter", "SkuId"],
  model: ["x_Model", "x_ModelId"],
  unit: ["x_TokenType", "x_Unit"],
  quantity: ["ConsumedQuantity"],
  tier: ["x_ServiceTier"],
  user: ["x_User"],
  key: ["x_ApiKey", "x_Key"],
  list_amount: ["ListCost"],
  currency: ["BillingCurrency"],
};

/** Every column of FOCUS that is read. */
export const focusColumnsRead: readonly string[] = [
  ...new Set([...identifyingColumns, "ServiceCategory", ...Object.values(columnsOf).flat()]),
];

/** Where the fields of a file are read from. */
export function focusColumns(header: readonly string[]): Partial<Record<BillField, string>> {
  const found = Object.entries(columnsOf).map(([field, names]) => [
    field,
    names.find((name) => header.includes(name)),
  ]);
  return Object.fromEntries(found.filter(([, name]) => name !== undefined));
}
