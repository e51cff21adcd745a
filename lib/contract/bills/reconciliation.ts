import { z } from "zod";
import { month } from "@/lib/contract/ledger/closed-months";
import { day, decimalNumber } from "@/lib/contract/values/fields";
import { differenceParts } from "./difference-parts";

const sums = {
  billed_usd: decimalNumber("What the provider billed, USD."),
  recorded_usd: decimalNumber("What was recorded of it here, USD, adjustments to bills among it."),
  adjusted_usd: decimalNumber("Of what was recorded, adjustments to bills, USD."),
  difference_usd: decimalNumber("Billed less recorded, USD."),
};

const parts = z
  .array(
    z.object({
      part: z.enum(Object.keys(differenceParts) as [keyof typeof differenceParts]).meta({
        description: Object.entries(differenceParts)
          .map(([name, { meaning }]) => `\`${name}\`: ${meaning}`)
          .join("; "),
      }),
      amount_usd: decimalNumber("USD, negative where more was recorded than billed."),
    }),
  )
  .meta({
    description:
      "What the difference consists of, without what adjustments book of it. The parts sum to it exactly; those that are zero are left out. A part below zero that is billed otherwise was booked, and recorded or credited since.",
  });

const coverage = {
  missing_usd: decimalNumber(
    "What was billed and is not recorded, USD, by provider and billed period: more than was billed of one does not cover another.",
  ),
  coverage_percent: decimalNumber(
    "How much of what was billed is recorded, in percent, rounded down to one decimal: 100 only if all is recorded, 0 only if nothing is. Null where nothing was billed.",
  ).nullable(),
};

const units = z
  .object({
    billed_units: decimalNumber("Tokens and other units that bills and records count alike."),
    recorded_units: decimalNumber("Of them, those that were recorded, at most as many as billed."),
  })
  .nullable()
  .meta({ description: "Null where the bill says nothing of quantities." });

/** A row of a bill within a period and model. */
const billedLine = z.object({
  line: z.string().nullable(),
  unit: z.string().nullable(),
  tier: z.string().nullable(),
  key: z.string().nullable(),
  amount_usd: decimalNumber("USD."),
  list_usd: decimalNumber("Before discounts, USD; null where the bill does not say.").nullable(),
  quantity: decimalNumber("In the unit.").nullable(),
});

const cell = z
  .object({
    provider: z.string(),
    from: day,
    to: day.meta({ description: "The last day: that of `from`, unless the bill has no days." }),
    model: z.string().nullable().meta({
      description: "As the bill or, without one, the record names it. Null for what is of no model.",
    }),
    ...sums,
    parts,
    lines: z.array(billedLine).meta({
      description: "What the bill says, where a part of the difference is unexplained: at most 20 rows.",
    }),
  })
  .meta({ id: "ReconciledCell" });
export type ReconciledCell = z.output<typeof cell>;

const provider = z
  .object({
    provider: z.string(),
    ...sums,
    parts,
    ...coverage,
    units,
    billed_days: z.int().meta({ description: "Days of the month that have a bill." }),
  })
  .meta({ id: "ReconciledProvider" });

const reconciledModel = z
  .object({ provider: z.string(), model: cell.shape.model, ...sums, parts, units })
  .meta({ id: "ReconciledModel" });
export type ReconciledModel = z.output<typeof reconciledModel>;

const reconciledUser = z
  .object({
    provider: z.string(),
    kind: z.enum(["user", "none", "others"]).meta({
      description:
        "`user`: a person; `none`: what names nobody, adjustments among it; `others`: the people of the provider that have no row here.",
    }),
    user: z.string().nullable().meta({
      description: "The person, an e-mail address in lower case. Null for `none` and `others`.",
    }),
    user_count: z.int().meta({ description: "How many people the row is of: 1 for `user`, 0 for `none`." }),
    ...sums,
  })
  .meta({ id: "ReconciledUser" });
export type ReconciledUser = z.output<typeof reconciledUser>;

const reconciledMonth = z
  .object({
    month,
    ...sums,
    ...coverage,
    recorded_elsewhere_usd: decimalNumber(
      "Usage that was recorded at providers without a bill of the month, USD. It is not in the sums.",
    ),
    billed_through: day.nullable().meta({
      description:
        "The last day that has a bill. Null where the bills were deleted, and adjustments to them are left.",
    }),
  })
  .meta({ id: "ReconciledMonth" });
export type ReconciledMonth = z.output<typeof reconciledMonth>;

/** A price that a bill implies and that the workspace could set as its own. */
const learnedPrice = z
  .object({
    provider: z.string().meta({ description: "As it is recorded." }),
    model: z.string().meta({ description: "As it is recorded." }),
    unit_type: z.string(),
    rate: decimalNumber("What is billed, USD for one unit, after discounts."),
    recorded_rate: decimalNumber(
      "What it is recorded at, USD for one unit. Null where it has several prices, or none.",
    ).nullable(),
    from: day.meta({ description: "The first day from which every row of the month is billed at the rate." }),
    quantity: decimalNumber("What was recorded since then at a price of Outlay's, in the unit."),
    now_usd: decimalNumber("What it costs as it is recorded, USD."),
    then_usd: decimalNumber("What it costs at the billed rate, USD."),
  })
  .meta({ id: "LearnedPrice" });
export type LearnedPrice = z.output<typeof learnedPrice>;

const detail = z
  .object({
    month,
    ...sums,
    parts,
    ...coverage,
    units,
    providers: z.array(provider),
    models: z.array(reconciledModel).meta({
      description: "By provider and model, the largest difference first, at most 500.",
    }),
    cells: z.array(cell).meta({
      description: "By provider, period and model, the largest difference first, at most 1,000.",
    }),
    cell_count: z.int(),
    users: z.array(reconciledUser).meta({
      description:
        "By person, of the providers whose bills name people, the largest difference first, at most 100 people of a provider. A person is matched by the name that messages have in `user`; e-mail addresses in any letter case. The rows of a provider sum exactly to its billed and recorded amounts. Empty where no bill names anybody.",
    }),
    unseen_keys: z
      .array(
        z.object({
          provider: z.string(),
          key: z.string().meta({ description: "The key at the provider, as the bill names it." }),
          from: day.meta({ description: "The first day on which it is billed." }),
          to: day.meta({ description: "The last day on which it is billed." }),
          amount_usd: decimalNumber("What it is billed, USD."),
        }),
      )
      .meta({
        description:
          "Keys at providers whose usage no source reports: wherever one is billed, at least as much is `no_source`. The dearest first, at most 20. Where it is open which of several keys is meant, none is named.",
      }),
    learned_prices: z.array(learnedPrice).meta({
      description:
        "Prices that the bills say and that usage is not recorded at, the largest change first, at most 50. One is set with `PUT …/prices`, with `starts_at` and `reprice.from` at `from`. Units that are billed in several service tiers are left out, because a price of the workspace's own holds for every tier; so are costs that clients sent.",
    }),
  })
  .meta({ id: "ReconciledDetail" });
export type ReconciledDetail = z.output<typeof detail>;

export const reconciliation = z
  .object({
    months: z
      .array(reconciledMonth)
      .meta({ description: "Months with a bill or an adjustment to one, the latest first." }),
    detail: detail
      .nullable()
      .meta({ description: "The month that was asked for. Null without one, or where it has no bill." }),
  })
  .meta({ id: "Reconciliation" });
export type Reconciliation = z.output<typeof reconciliation>;

export const reconciliationExportQuery = z.strictObject({
  month: month.meta({ description: "The month to export, such as 2026-10." }),
});

export const reconciliationQuery = z.strictObject({
  month: month.optional().meta({ description: "The month to explain, such as 2026-10." }),
});
