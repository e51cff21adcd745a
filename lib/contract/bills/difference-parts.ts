// Must not import zod, because pages load this file.

/** The parts of a difference between bill and records, in the order in which they are shown: their name and their meaning. */
export const differenceParts = {
  no_source: { label: "No source", meaning: "billed, but nobody recorded it: no source reports this usage" },
  refused: {
    label: "Refused by limits",
    meaning: "billed, and limits refused to record it: at most what they refused of it",
  },
  no_telemetry: {
    label: "Not in telemetry",
    meaning:
      "billed for what calls do not report, such as web search, storage or seats, of which nothing was recorded",
  },
  unpriced: { label: "Unpriced here", meaning: "recorded here without a price" },
  discount: {
    label: "Discount",
    meaning: "the provider's discount: billed less the list price, as the bill says",
  },
  tier: {
    label: "Tier",
    meaning: "recorded in another service tier than billed, such as batch or a one-hour cache",
  },
  price: { label: "Price", meaning: "equal quantities at another price" },
  rounding: { label: "Rounding", meaning: "within what the provider rounds, by the decimals of its rows" },
  not_billed_yet: { label: "Not billed yet", meaning: "recorded on days that have no bill" },
  beyond_bill: {
    label: "Beyond the bill",
    meaning: "recorded, but not billed: reported twice, free, or of an account whose bill is not here",
  },
  unexplained: { label: "Unexplained", meaning: "what the bill and the records do not decide" },
} as const;

export type DifferencePart = keyof typeof differenceParts;

/** The parts that an adjustment can book: all except those that depend on a future bill. */
export const bookableParts = Object.keys(differenceParts).filter(
  (part): part is BookablePart => part !== "not_billed_yet",
);
export type BookablePart = Exclude<DifferencePart, "not_billed_yet">;
