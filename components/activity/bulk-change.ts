/** The typed values of the fields for a bulk change; undefined or empty for an empty field. */
export type Typed = {
  project?: string | undefined;
  /** `name:value` pairs, separated by commas. */
  added?: string | undefined;
  /** Names, separated by commas. */
  removed?: string | undefined;
  feature?: string | undefined;
  factor?: string | undefined;
};

const partsOf = (text = "") =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

/** Converts the fields to the change in a request, without members for empty fields. */
export function changeOf({
  project,
  added,
  removed,
  feature = "",
  factor = "",
}: Typed): Record<string, unknown> {
  const tags = partsOf(added).map((tag): [string, string] => {
    const at = tag.indexOf(":");
    // A tag without a colon has an empty value, which the API refuses.
    return at < 0 ? [tag, ""] : [tag.slice(0, at).trim(), tag.slice(at + 1).trim()];
  });
  const names = partsOf(removed);
  const number = Number(factor.trim());
  return {
    ...(project && { project }),
    ...(tags.length > 0 && { add_tags: Object.fromEntries(tags) }),
    ...(names.length > 0 && { remove_tags: names }),
    ...(feature.trim() !== "" && { feature: feature.trim() }),
    // Text that is not a number is sent unchanged, so that the API explains what is wrong with it.
    ...(factor.trim() !== "" && { multiply_by: Number.isNaN(number) ? factor.trim() : number }),
  };
}
