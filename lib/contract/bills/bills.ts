import { z } from "zod";
import { workspaceSlug } from "@/lib/contract/access/workspace";
import { day, decimalNumber, instant, text, uuid } from "@/lib/contract/values/fields";
import { type BillField, maxBillCharacters, maxBillRows } from "./bill-fields";

/** What a bill states for a period of one provider and account. */
export const billPeriod = z
  .object({
    provider: z.string(),
    account: z.string().nullable(),
    from: day.meta({ description: "The first day (UTC)." }),
    to: day.meta({ description: "The last day (UTC)." }),
    amount_usd: decimalNumber("What is billed, USD."),
    former_usd: decimalNumber(
      "What the bills before it said of these days, USD, where they said something else.",
    ).nullable(),
    is_replaced: z
      .boolean()
      .meta({ description: "Whether a later bill says what counts of these days in its place." }),
  })
  .meta({ id: "BillPeriod" });
export type BillPeriod = z.output<typeof billPeriod>;

export const bill = z
  .object({
    id: uuid,
    name: z.string().meta({ description: "The name of the file; of a pulled bill, its provider and month." }),
    format: z.enum(["csv", "focus", "cur", "pull"]).meta({
      description: "`pull`: pulled from a provider account; one bill a month.",
    }),
    providers: z.array(z.string()),
    from: day.meta({ description: "The first day that it bills (UTC)." }),
    to: day.meta({ description: "The last day that it bills (UTC)." }),
    amount_usd: decimalNumber("Everything that it bills, USD."),
    counted_usd: decimalNumber("Of it, what no later bill replaces, USD: this much is reconciled."),
    row_count: z.int().meta({
      description: "Rows of the file; of a pulled bill, the billed facts that were stored.",
    }),
    left_out_count: z
      .int()
      .meta({ description: "Rows of a FOCUS or CUR file about services that are not AI." }),
    left_out_usd: decimalNumber("What these rows come to, USD."),
    changes: z.array(billPeriod).meta({
      description: "The periods of which earlier bills said something else, at most 100, the latest first.",
    }),
    created_at: instant,
    created_by: z
      .string()
      .nullable()
      .meta({ description: "The address of who added it; null where it is pulled." }),
    provider_account_id: uuid.nullable().meta({
      description:
        "The provider account that it is pulled from. It cannot be deleted before that is removed.",
    }),
  })
  .meta({ id: "Bill" });
export type Bill = z.output<typeof bill>;

export const billList = z
  .object({
    bills: z.array(bill).meta({ description: "The latest first, at most 500." }),
    can_edit: z.boolean().meta({ description: "Whether the caller may add and delete bills." }),
  })
  .meta({ id: "BillList" });
export type BillList = z.output<typeof billList>;

const meanings: Record<BillField, string> = {
  day: "The day that is billed, a time of it, or a month such as 2026-10.",
  amount: "What is billed.",
  provider: "The provider.",
  account: "The account that is billed, where there are several.",
  line: "What the provider calls the line.",
  model: "The model.",
  unit: "The unit of the quantity, such as `input_tokens`.",
  quantity: "How many units.",
  tier: "The service tier, such as `batch`.",
  user: "The person who used it, such as an e-mail address.",
  key: "The API key that used it.",
  list_amount: "The amount before discounts.",
  currency: "The currency, which must be USD.",
};

const fieldSchemas = Object.fromEntries(
  Object.entries(meanings).map(([field, meaning]) => [field, text(200, meaning).optional()]),
) as Record<BillField, z.ZodOptional<ReturnType<typeof text>>>;

const mapping = (description: string) => z.strictObject(fieldSchemas).meta({ description });

export const addBillRequest = z
  .strictObject({
    name: text(200, "The name of the file."),
    content: z
      .string()
      .min(1, "must not be empty")
      .max(maxBillCharacters, "must be shorter: split the file by month")
      .meta({
        description: `The file: CSV with a header line, at most ${maxBillRows} rows; with \`encoding\` also Parquet. With the columns of FOCUS 1.0 or later (\`BilledCost\`, \`ChargePeriodStart\`, …) or of CUR 2.0 of AWS (\`line_item_unblended_cost\`, …) it needs no mapping.`,
      }),
    encoding: z.enum(["text", "base64"]).default("text").meta({
      description:
        "`base64`: `content` is the Base64 of a Parquet file (compressed with Snappy, Gzip, Zstandard or not at all), or of CSV in UTF-8, which may be zipped with gzip.",
    }),
    columns: mapping(
      "Which column has which field. Columns with usual names are found without. Of a file of FOCUS or CUR 2.0, `key` and `user` may be a tag, by its column and its name, such as `Tags.team`, `resource_tags.user_team` or `resource_tags.iamPrincipal/team`: it is the key or the person of the rows that have it.",
    ).optional(),
    constants: mapping("Fields that are the same in every row, such as the provider.").optional(),
    amounts_in: z
      .enum(["dollars", "cents"])
      .default("dollars")
      .meta({ description: "What the amounts of the file are. Cents may have decimals." }),
    dry_run: z
      .boolean()
      .default(false)
      .meta({ description: "Reads the file and answers what it says, but keeps nothing." }),
    accept_jump: z.boolean().default(false).meta({
      description:
        "A bill of twenty times what was recorded at the provider on its days, or of a twentieth, is refused, as cents may have been read as dollars. `true` accepts it.",
    }),
  })
  .meta({ id: "AddBillRequest" });
export type AddBillRequest = z.output<typeof addBillRequest>;

export const addedBill = z
  .object({
    id: uuid.nullable().meta({ description: "Null for a dry run." }),
    format: bill.shape.format,
    columns: z.record(z.string(), z.string()).meta({ description: "Which column each field is read from." }),
    unused: z.array(z.string()).meta({ description: "Columns that no field is read from." }),
    row_count: bill.shape.row_count,
    left_out_count: bill.shape.left_out_count,
    left_out_usd: bill.shape.left_out_usd,
    amount_usd: bill.shape.amount_usd,
    periods: z.array(billPeriod).meta({ description: "What it states, at most 400." }),
    jumps: z
      .array(
        z.object({
          provider: z.string(),
          billed_usd: decimalNumber("USD."),
          recorded_usd: decimalNumber("USD."),
        }),
      )
      .meta({ description: "Providers of which the bill is far from what was recorded on its days." }),
  })
  .meta({ id: "AddedBill" });
export type AddedBill = z.output<typeof addedBill>;

export const billParams = z.strictObject({ slug: workspaceSlug, id: uuid });
