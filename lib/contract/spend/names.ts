import { z } from "zod";
import { text } from "@/lib/contract/values/fields";
import { environment } from "./ledger-query";

/** The shortest and the longest text that can be searched for in names. */
export const searchLength = { min: 2, max: 100 } as const;

/** The most names of each kind in an answer. */
export const maxNames = 20;

export const namesQuery = z.strictObject({
  q: text(searchLength.max)
    .refine(
      (value) => value.trim().length >= searchLength.min,
      `must have at least ${searchLength.min} characters`,
    )
    .meta({
      description: "Text to find in names: each of its words, in any order. Case does not matter.",
      jsonSchema: { type: "string", minLength: searchLength.min, maxLength: searchLength.max },
    }),
  environment: environment.default("live"),
});
export type NamesQuery = z.output<typeof namesQuery>;

const names = z.array(z.string()).max(maxNames);

/** Names with spend this year. */
export const nameList = z
  .object({
    features: names.meta({ description: "Features, those that begin with the text first." }),
    people: names.meta({ description: "People with usage, in the same order." }),
    models: names.meta({ description: "Models, in the same order." }),
    providers: names.meta({ description: "Providers and vendors, in the same order." }),
    tags: names.meta({ description: "Tags, each `name:value`, in the same order." }),
  })
  .meta({ id: "NameList" });
export type NameList = z.output<typeof nameList>;
