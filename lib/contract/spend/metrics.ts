import { z } from "zod";
import { conversion, currencyFilter } from "@/lib/contract/values/conversion";
import { day, decimalNumber } from "@/lib/contract/values/fields";
import { forecastDetails } from "./forecast";
import {
  answeredPeriod,
  checkRange,
  comparison,
  comparisonFilters,
  environment,
  ledgerFilters,
} from "./ledger-query";
import { comparedStretch } from "./spend-comparison";

/** Dimensions by which spend is broken down. */
export const dimensions = ["project", "type", "provider", "model", "feature", "key", "user", "tag"] as const;
const dimension = z.enum(dimensions);
export type Dimension = z.infer<typeof dimension>;

export const metricsQuery = z
  .strictObject({
    ...ledgerFilters,
    ...comparisonFilters,
    environment: environment.default("live"),
    ...currencyFilter,
    group_by: dimension.default("project").meta({
      description: "What the series is stacked by. By `tag`, spend counts once for each of its tags.",
    }),
  })
  .superRefine(checkRange);
export type MetricsQuery = z.output<typeof metricsQuery>;

const totals = z
  .object({
    total_usd: decimalNumber("Sum of the four below, USD."),
    usage_usd: decimalNumber("Usage, batches and allocations, USD."),
    subscription_usd: decimalNumber("USD."),
    expense_usd: decimalNumber("USD."),
    adjustment_usd: decimalNumber("Adjustments to bills, USD."),
    message_count: z.int(),
    unpriced_count: z.int().meta({ description: "Lines of usage without a price, which count as 0." }),
    included_usd: decimalNumber(
      "The cost that usage covered by subscriptions would have had, USD. Not part of the total.",
    ),
  })
  .meta({ id: "SpendTotals" });

/** Fields shared by the slices of a breakdown and the groups of a series. */
const slice = {
  value: z.string().nullable().meta({
    description: "The filter value for the rows behind it; null for rows without a value, and for the rest.",
  }),
  name: z
    .string()
    .nullable()
    .meta({ description: "The display name: a project's or key's name, otherwise the value." }),
  is_rest: z.boolean().meta({ description: "Whether it is the sum of all that are not listed." }),
  total_usd: decimalNumber("USD."),
};

/** The kinds of layers of a series. */
const layerKinds = ["value", "rest", "rest_below_zero", "allocated_in", "allocated_out"] as const;

const layer = z
  .object({
    kind: z.enum(layerKinds).meta({
      description:
        "`value`: what a value spent itself, without what was allocated to it or from it. `rest`: the same of all values that are not listed and above zero in that bucket; `rest_below_zero` of those below it. `allocated_in` and `allocated_out`: what was allocated to values, and from them.",
    }),
    value: slice.value,
    name: slice.name,
    total_usd: slice.total_usd,
  })
  .meta({ id: "SpendLayer" });

const breakdown = z.array(z.object({ ...slice, message_count: z.int() }).meta({ id: "SpendSlice" }));

const previousTotals = z
  .object({
    from: day,
    to: day,
    totals: totals.meta({ description: "The totals of these days, up to today." }),
    to_point_usd: decimalNumber(
      "The total of `to_point`: compare the period's own total with this. Of a period that is over, it is the total of all of the days.",
    ),
    to_point: comparedStretch.nullable().meta({
      description:
        "The days, and the part of the last one, that correspond to the part of the period that has passed. A month is compared from the same weekday on, four weeks before (52 for last year). Null for a period that has not begun.",
    }),
  })
  .nullable()
  .meta({ description: "The days it is compared with, as `compare` says; null for nothing." });

const bookedAhead = z
  .object({
    total_usd: decimalNumber("USD."),
    from: day.meta({ description: "The first such day." }),
    to: day.meta({ description: "The last such day." }),
  })
  .nullable()
  .meta({
    description:
      "What is booked on days of the period after today, such as the coming months of a yearly subscription. Not part of the totals. Null if nothing is booked ahead.",
  });

const converted = (of: string) => decimalNumber(`${of}, in the currency.`);
const convertedSlices = z.array(converted("Its amounts, in order"));

/** The amounts of metrics in another currency, in the order of those in USD. */
const convertedMetrics = z
  .object({
    ...conversion,
    totals: z.object({
      total: converted("`total_usd`"),
      usage: converted("`usage_usd`"),
      subscription: converted("`subscription_usd`"),
      expense: converted("`expense_usd`"),
      adjustment: converted("`adjustment_usd`"),
      included: converted("`included_usd`"),
    }),
    booked_ahead: converted("`booked_ahead.total_usd`").nullable(),
    previous: z
      .object({ total: converted("`totals.total_usd`"), to_point: converted("`to_point_usd`") })
      .nullable(),
    forecast: converted("`forecast_usd`").nullable(),
    series: z.object({
      groups: z.array(converted("`total_usd` of each group")),
      layers: z.array(converted("`total_usd` of each layer")),
      points: z.array(
        z.object({
          from: day,
          total: converted("`total_usd`"),
          amounts: z.array(converted("`amounts_usd`")),
          layers: z.array(converted("`layers_usd`")),
        }),
      ),
      previous: z.array(z.object({ from: day, total: converted("`total_usd`") })),
    }),
    by_project: convertedSlices,
    by_type: convertedSlices,
    by_provider: convertedSlices,
    by_model: convertedSlices,
    by_feature: convertedSlices,
    by_key: convertedSlices,
    by_user: convertedSlices,
    by_tag: convertedSlices,
  })
  .meta({
    id: "ConvertedMetrics",
    description:
      "Only with `currency`. The same sums in that currency: each day is converted at its rate, exactly, and then summed, so that everything sums to its total as in USD. What a forecast adds is converted at the latest rate.",
  });

/**
 * What a workspace spent in a period up to today, as totals, series and breakdowns, by when the costs occurred. Every breakdown and
 * series sums to the total, except those by tag: spend counts once for each of its tags, and not at all without tags.
 */
export const metrics = z
  .object({
    ...answeredPeriod,
    environment,
    totals: totals.meta({ description: "Spend in the period, up to today." }),
    booked_ahead: bookedAhead,
    refused: z
      .object({ total_usd: decimalNumber("USD."), message_count: z.int() })
      .nullable()
      .meta({
        description:
          "What limits of keys and blocking budgets refused to record of the period (402). Not part of the totals: it may have been spent all the same. A retry with the same idempotency key counts once, and what is recorded later is taken out. Null with filters other than project, key, provider and model, by which it is not kept.",
      }),
    compare: comparison.meta({ description: "What the period is compared with." }),
    previous: previousTotals,
    forecast_usd: decimalNumber("USD.").nullable().meta({
      description:
        "The forecast spend of the whole period, rounded to its accuracy. Null for a period that is over, ends today or has no end, and with usage of fewer than three days.",
    }),
    forecast: forecastDetails,
    series: z.object({
      bucket: z.enum(["day", "month"]).meta({
        description: "Days up to a quarter, months for a year and more.",
      }),
      group_by: dimension,
      groups: z.array(z.object(slice).meta({ id: "SpendGroup" })).meta({
        description: "The seven largest by absolute size and, if there are more, the rest.",
      }),
      layers: z.array(layer).meta({
        description:
          "The layers of a stacked chart: the groups without allocations, the allocations to and from them, and the negative amounts among the rest. They sum to the groups. Groups that only have allocations, and layers without amounts, are left out.",
      }),
      points: z.array(
        z.object({
          from: day.meta({ description: "Its first day." }),
          total_usd: decimalNumber("USD."),
          amounts_usd: z
            .array(decimalNumber("USD."))
            .meta({ description: "One for each of `groups`, in that order." }),
          layers_usd: z
            .array(decimalNumber("USD."))
            .meta({ description: "One for each of `layers`, in that order." }),
        }),
      ),
      previous: z.array(z.object({ from: day, total_usd: decimalNumber("USD.") })).meta({
        description:
          "The days that correspond to those of the period, bucket by bucket: of a month that goes on, the same weekdays four weeks before; otherwise all days it is compared with. Empty for nothing.",
      }),
    }),
    by_project: breakdown,
    by_type: breakdown,
    by_provider: breakdown,
    by_model: breakdown,
    by_feature: breakdown,
    by_key: breakdown,
    by_user: breakdown,
    by_tag: breakdown.meta({
      description: "Spend counts once for each of its tags: these need not sum to the total.",
    }),
    converted: convertedMetrics.optional(),
  })
  .meta({ id: "Metrics" });
export type Metrics = z.output<typeof metrics>;
