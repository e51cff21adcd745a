// Must not import zod, because pages load this file.

/** The most rows of a file. */
export const maxBillRows = 100_000;

/** The most characters of a file. */
export const maxBillCharacters = 15 * 1024 * 1024;

/** The fields of a bill's row, each with the known names of its column, in lower case without separators. */
export const billFields = {
  day: ["date", "usagedate", "starttime", "bucketstart", "usagestart", "period", "month"],
  amount: ["amountusd", "cost", "costusd", "total", "charge", "price", "spend", "usage"],
  provider: ["vendor", "service"],
  account: [
    "accountid",
    "organization",
    "organizationid",
    "billingaccountid",
    "project",
    "projectid",
    "workspace",
  ],
  line: ["lineitem", "description", "item", "sku", "product", "costtype"],
  model: ["modelname", "modelid"],
  unit: ["tokentype", "unittype", "quantityunit"],
  quantity: ["tokens", "units", "usagequantity"],
  tier: ["servicetier"],
  user: ["username", "useremail", "email", "member", "person", "enduser"],
  key: ["apikey", "apikeyname", "apikeyid", "keyname"],
  list_amount: ["listcost", "listprice", "listamountusd", "gross", "grossamount"],
  currency: ["currencycode"],
} as const satisfies Record<string, readonly string[]>;

export type BillField = keyof typeof billFields;
