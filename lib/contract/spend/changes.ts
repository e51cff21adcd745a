import { z } from "zod";
import { day, instant } from "@/lib/contract/values/fields";
import { comparedStretch } from "./spend-comparison";

/** Why spend differs between two ranges. */
export const causeNames = [
  "volume",
  "mix",
  "prices",
  "new_projects",
  "gone_projects",
  "subscriptions",
  "expenses",
  "allocations",
  "adjustments",
] as const;
export type CauseName = (typeof causeNames)[number];

/** Exact USD as text, so that a server component can pass it on. */
const usd = z.string();

const mover = z.object({
  /** The value for the filter of activity. */
  value: z.string(),
  name: z.string(),
  now_usd: usd,
  difference_usd: usd,
});

/** Why the spend of some days differs from the days compared with. `from` and `to`: the first and the last day. */
const changes = z.object({
  from: day,
  to: day,
  /** The time up to which the last day counts; null if it is over. */
  until: instant.nullable(),
  before: comparedStretch,
  now_usd: usd,
  before_usd: usd,
  difference_usd: usd,
  /** Largest first. Their amounts sum to the difference exactly. */
  causes: z.array(
    z.object({
      name: z.enum(causeNames),
      amount_usd: usd,
      /** `value`: for the filter of activity; the model for `mix` and `prices`, otherwise the project. Null for no model. */
      parts: z.array(
        z.object({ name: z.string().nullable(), value: z.string().nullable(), amount_usd: usd }),
      ),
    }),
  ),
  /** The lines of usage of projects with spend in both ranges. */
  volume: z.object({ now: z.int(), before: z.int() }),
  people: z.array(mover),
  keys: z.array(mover),
});

/** Why spend differs from the days compared with, as pages show it. */
export type Changes = z.output<typeof changes>;
/** A person or key whose spend differs. */
export type Mover = z.output<typeof mover>;
