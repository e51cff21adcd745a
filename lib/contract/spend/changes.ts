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
  /** What activity filters by. */
  value: z.string(),
  name: z.string(),
  now_usd: usd,
  difference_usd: usd,
});

/** Why spend in some days differs from what it is compared with; `from` and `to` are the first and the last day. */
const changes = z.object({
  from: day,
  to: day,
  /** The time up to which the last day counts; null where it is over. */
  until: instant.nullable(),
  before: comparedStretch,
  now_usd: usd,
  before_usd: usd,
  difference_usd: usd,
  /** They sum to the difference exactly, the largest first. */
  causes: z.array(
    z.object({
      name: z.enum(causeNames),
      amount_usd: usd,
      /** `value`: what activity filters by, the model of `mix` and `prices`, otherwise the project; null for no model. */
      parts: z.array(
        z.object({ name: z.string().nullable(), value: z.string().nullable(), amount_usd: usd }),
      ),
    }),
  ),
  /** How many lines of usage the projects have that spent in both. */
  volume: z.object({ now: z.int(), before: z.int() }),
  people: z.array(mover),
  keys: z.array(mover),
});

/** Why spend differs from what it is compared with: what the overview shows of it. */
export type Changes = z.output<typeof changes>;
/** A person or key whose spend differs. */
export type Mover = z.output<typeof mover>;
