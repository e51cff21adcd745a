import { groupBy } from "@/lib/group-by";
import type { WantedMaps } from "./parquet/read-parquet";

/** The fields that may be read from a tag. */
export const taggedFields = ["key", "user"] as const;
export type TaggedField = (typeof taggedFields)[number];

/** A tag of a charge: the column that has the tags, as a map or as JSON, and the tag's own key. */
export type ChosenTag = { column: string; key: string };

/** Reads a tag that was chosen as a column, such as `resource_tags.user_team` of CUR or `Tags.team` of FOCUS; undefined for others. */
export function readChosenTag(name: string | undefined): ChosenTag | undefined {
  const [, column, key] = /^(Tags|resource_tags|cost_category)\.(.+)$/s.exec(name ?? "") ?? [];
  return column !== undefined && key !== undefined ? { column, key } : undefined;
}

/** What is read of columns that are maps: the product's name, and the chosen tags. */
export const mapsOf = (tags: readonly ChosenTag[]): WantedMaps => ({
  product: ["product_name"],
  ...Object.fromEntries(
    [...groupBy(tags, ({ column }) => column)].map(([column, own]) => [column, own.map(({ key }) => key)]),
  ),
});

/** A member of a map that is written as JSON; undefined where it has none, or is no JSON. */
export function memberOf(map: string | undefined, key: string): string | undefined {
  try {
    const members: unknown = JSON.parse(map || "{}");
    if (typeof members !== "object" || members === null) return undefined;
    // Members that every object inherits, such as `constructor`, are not text.
    const value = (members as Record<string, unknown>)[key];
    return typeof value === "string" && value !== "" ? value : undefined;
  } catch {
    return undefined;
  }
}
