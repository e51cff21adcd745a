import { z } from "zod";
import { decimalNumber, instant, uuid } from "@/lib/contract/values/fields";

// Fields that a row of activity and the details of a message share.

/** The API key that recorded a message. */
export const keyReference = z.object({ id: uuid, name: z.string() });

/** The member who recorded a message, in the dashboard or with an assistant. */
export const userReference = z.object({
  id: uuid,
  name: z.string().meta({ description: "The display name, otherwise the address." }),
});

export const storedTags = z
  .record(z.string(), z.string())
  .meta({ description: "The message's tags; empty for none." });
export const emitterName = z.string().nullable().meta({
  description: "The program that reported it, such as `claude-code`; null for messages that clients sent.",
});
export const listPrice = decimalNumber("USD.").nullable().meta({
  description:
    "The cost that included usage would have had, as far as prices are known; null for other usage.",
});

/** Links to the messages that void, correct or replace a message. */
export const correctionLinks = {
  voids: uuid.nullable().meta({
    description: "Of a void: the message that it voids. Its amounts are negative.",
  }),
  voided_by: uuid.nullable().meta({ description: "Of a voided message: its void." }),
  corrects: uuid.nullable().meta({ description: "Of a correction: the voided message that it replaces." }),
  corrected_by: uuid.nullable().meta({
    description: "Of a voided message: the one that was recorded in its place, if any.",
  }),
};

export const adjustedAt = instant.nullable().meta({
  description:
    "Of an adjustment: when the cost occurred, in a month that was closed by then. It is booked at `occurred_at`, when it was recorded. Null for anything else.",
});
