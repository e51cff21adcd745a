/** What stands in a page's address behind the question mark, as Next hands it to a page. */
export type SearchParams = Record<string, string | string[] | undefined>;

/**
 * The address of a page with some of its parameters changed, the rest kept; what is undefined is left out, and
 * an empty text stays: to the API it means "what has none". A cursor belongs to the filters before, and goes.
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

/** One value of a parameter, of the given ones, else the first of them. */
export function oneOf<Value extends string>(
  params: SearchParams,
  name: string,
  values: readonly Value[],
): Value {
  const given = params[name];
  return values.find((value) => value === given) ?? (values[0] as Value);
}

/** What activity is filtered by. Null asks for what has none of it; what is left out is not asked for. */
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
    | "source"
    | "cost_status",
    string | null | undefined
  >
>;

/** The address of the rows behind a figure. */
export function activityHref(workspace: string, filter: ActivityFilter): string {
  const params = Object.entries(filter).map(([name, value]) => [name, value === null ? "" : value]);
  return hrefWith(`/${workspace}/activity`, Object.fromEntries(params), {});
}
