/** The query parameters of a page, as Next passes them. */
export type SearchParams = Record<string, string | string[] | undefined>;

/**
 * The address of a page with some query parameters changed. A parameter that is undefined is removed; an empty one is kept,
 * because it selects rows without a value. The cursor is removed, because it belongs to the previous parameters.
 */
export function hrefWith(
  path: string,
  params: SearchParams,
  changes: Record<string, string | undefined>,
): string {
  const next = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...params, cursor: undefined, ...changes })) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined) next.append(name, each);
    }
  }
  const query = next.toString();
  return query ? `${path}?${query}` : path;
}

/** The value of a parameter if it is one of `values`, otherwise the first of them (`problemOfChoices` reports that). */
export function oneOf<Value extends string>(
  params: SearchParams,
  name: string,
  values: readonly Value[],
): Value {
  const given = params[name];
  return values.find((value) => value === given) ?? (values[0] as Value);
}

/** Explains invalid values of parameters that have few values; undefined if all are valid. */
export function problemOfChoices(
  params: SearchParams,
  choices: Record<string, readonly string[]>,
): { name: string; text: string; shown: string } | undefined {
  for (const [name, values] of Object.entries(choices)) {
    const given = params[name];
    if (given !== undefined && !values.some((value) => value === given))
      return { name, text: `must be one of: ${values.join(", ")}`, shown: values[0] ?? "" };
  }
  return undefined;
}

/** The environments to choose from, the default first. */
export const environments = ["live", "test"] as const;

/** A filter of activity. Null selects rows without a value; a field that is left out does not filter. `sort`: their order. */
export type ActivityFilter = Partial<
  Record<
    | "period"
    | "from"
    | "to"
    | "environment"
    | "project"
    | "type"
    | "provider"
    | "model"
    | "feature"
    | "key"
    | "user"
    | "tag"
    | "session"
    | "emitter"
    | "source"
    | "cost_status"
    | "adjusts"
    | "sort",
    string | null | undefined
  >
>;

/** The address of the activity that matches a filter. */
export function activityHref(workspace: string, filter: ActivityFilter): string {
  const params = Object.entries(filter).map(([name, value]) => [name, value === null ? "" : value]);
  return hrefWith(`/${workspace}/activity`, Object.fromEntries(params), {});
}
