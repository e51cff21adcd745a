import { z } from "zod";
import { workspaceSlug } from "@/lib/contract/access/workspace";
import { day, decimalNumber, instant, text, uuid } from "@/lib/contract/values/fields";

/** What a recommendation is about. */
export const recommendationKind = z
  .enum(["batch_tier", "smaller_model", "standard_tier", "prompt_caching", "unused_seats", "disputed_price"])
  .meta({
    id: "RecommendationKind",
    description:
      "`batch_tier`: usage that may wait, in the provider's batch or flex tier. `smaller_model`: the next smaller model of the same family that costs less. `standard_tier`: usage of a faster tier, in the standard one. `prompt_caching`: calls with long prompts of which nothing was cached, with the beginning that they can share read from the provider's cache. `unused_seats`: seats that nobody used for 30 days. `disputed_price`: a model of whose price two catalogues say different things; that is no saving, but a question of which is right.",
  });
export type RecommendationKind = z.output<typeof recommendationKind>;

/** Decides a recommendation, or takes the decision back. */
export const decideRecommendation = z
  .strictObject({
    decision: z.enum(["accept", "decline", "later", "reopen"]).meta({
      description:
        "`accept`: you are going to do it; what it saves is measured from then on. Of a `disputed_price`: sets the other prices as your own from the first of this month (UTC) on, and corrects what was recorded since then. `decline`: not again. `later`: again after `until`. `reopen`: takes a decision back.",
    }),
    reason: text(500)
      .refine((value) => value.trim() !== "", "must not be blank")
      .optional()
      .meta({ description: "Why it is declined; required to decline." }),
    until: day.optional().meta({ description: "The last day of `later`; required for it." }),
  })
  .superRefine(({ decision, reason, until }, context) => {
    const check = (path: string, value: unknown, of: string) => {
      if ((value !== undefined) === (decision === of)) return;
      const message =
        value === undefined
          ? `is required to decide \`${of}\``
          : `must be left out unless you decide \`${of}\``;
      context.addIssue({ code: "custom", path: [path], message });
    };
    check("reason", reason, "decline");
    check("until", until, "later");
  })
  .meta({ id: "DecideRecommendation" });
export type DecideRecommendation = z.output<typeof decideRecommendation>;

/** A price of one unit in one catalogue. */
const listedPrice = z.object({ source: z.string(), rate: decimalNumber("USD for one unit.") });

/** A change that would have saved money, or a price to settle, computed from what was recorded. */
export const recommendation = z
  .object({
    id: uuid,
    kind: recommendationKind,
    state: z.enum(["open", "accepted", "declined", "later"]),
    title: z.string().meta({ description: "What could be changed, in a sentence." }),
    method: z.string().meta({ description: "How the amount was computed, and what it assumes." }),
    saving_usd: decimalNumber(
      "What it would have saved in the days, USD: `recorded_usd` less `repriced_usd`. Negative for a `disputed_price` that is higher than the one in use.",
    ),
    recorded_usd: decimalNumber(
      "What was recorded in the days, USD: the sum of the rows of `activity_query`.",
    ),
    repriced_usd: decimalNumber("What the same would have cost, USD, each row at the catalogue's prices."),
    records: z.int().meta({ description: "Messages; for `unused_seats`, seats." }),
    from: day.meta({ description: "The first day of the records." }),
    to: day.meta({ description: "The last day." }),
    computed_at: instant,
    project: z.object({ slug: z.string(), name: z.string() }).nullable(),
    provider: z.string().nullable(),
    model: z.string().nullable(),
    feature: z.string().nullable(),
    target: z.string().nullable().meta({
      description:
        "The tier or the model to change to; for `disputed_price` the catalogue whose prices are not in use. For `prompt_caching`, how long what is written to the cache counts as kept, `5m` or `1h`, at the price of such a write; `automatic` where the provider charges nothing for writes.",
    }),
    prices: z
      .array(
        z.object({
          unit_type: z.string(),
          applied: listedPrice.meta({ description: "The price in use." }),
          other: listedPrice.meta({ description: "The price of `target`." }),
        }),
      )
      .nullable()
      .meta({ description: "Of a `disputed_price`: each price on which the catalogues differ; else null." }),
    activity_query: z.string().nullable().meta({
      description:
        "The query of `GET /api/v1/workspaces/{slug}/activity` that lists exactly the rows; null for `unused_seats`.",
    }),
    decision: z
      .object({
        by: z
          .object({ id: uuid, name: z.string() })
          .nullable()
          .meta({ description: "Null once they have left." }),
        at: instant,
        reason: z.string().nullable(),
        until: day.nullable(),
      })
      .nullable(),
    saved: z
      .object({
        amount_usd: decimalNumber("`before_usd` less `recorded_usd`."),
        recorded_usd: decimalNumber("What was recorded at the target, USD."),
        before_usd: decimalNumber("What the same would have cost before the change, USD."),
        records: z.int(),
        from: day,
        to: day,
      })
      .nullable()
      .meta({
        description:
          "Of an accepted one: what it saved since the day after the decision, by repricing what was recorded at the target; at most the last 90 days. Null until a week's computation found some.",
      }),
  })
  .meta({ id: "Recommendation" });
export type Recommendation = z.output<typeof recommendation>;

export const recommendationList = z
  .object({
    computed_at: instant.nullable().meta({
      description: "When they were last computed; null before the first time.",
    }),
    next_at: instant.nullable().meta({
      description: "When they are computed next; null without live spend in the last 30 days.",
    }),
    open_usd: decimalNumber(
      "What the open ones would have saved, USD. Of several about the same usage, only the largest counts; disputed prices do not.",
    ),
    recommendations: z
      .array(recommendation)
      .meta({ description: "Open ones first, each the largest first." }),
    can_decide: z.boolean().meta({ description: "Whether you may decide, and have them computed." }),
  })
  .meta({ id: "RecommendationList" });
export type RecommendationList = z.output<typeof recommendationList>;

export const recommendationParams = z.strictObject({ slug: workspaceSlug, id: uuid });
