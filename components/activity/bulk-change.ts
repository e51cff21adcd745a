/** What is typed into the fields of a change of many costs; undefined or empty where nothing is. */
export type Typed = {
  project?: string | undefined;
  /** Each `name:value`, with commas between. */
  added?: string | undefined;
  /** Names, with commas between. */
  removed?: string | undefined;
  feature?: string | undefined;
  factor?: string | undefined;
};

const partsOf = (text = "") =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

/** The change that the fields ask for, as the API takes it; without members where they are empty. */
export function changeOf({
  project,
  added,
  removed,
  feature = "",
  factor = "",
}: Typed): Record<string, unknown> {
  const tags = partsOf(added).map((tag): [string, string] => {
    const at = tag.indexOf(":");
    // Without a colon there is no value, which the API names.
    return at < 0 ? [tag, ""] : [tag.slice(0, at).trim(), tag.slice(at + 1).trim()];
  });
  const names = partsOf(removed);
  const number = Number(factor.trim());
  return {
    ...(project && { project }),
    ...(tags.length > 0 && { add_tags: Object.fromEntries(tags) }),
    ...(names.length > 0 && { remove_tags: names }),
    ...(feature.trim() !== "" && { feature: feature.trim() }),
    // What is no number is sent as it is, so that the API says what is wrong with it.
    ...(factor.trim() !== "" && { multiply_by: Number.isNaN(number) ? factor.trim() : number }),
  };
}
