/** What stands in a page's address behind the question mark, as Next hands it to a page. */
export type SearchParams = Record<string, string | string[] | undefined>;

/**
 * The address of a page with some of its parameters changed, the rest kept; what is undefined is left out. Parameters
 * that page through a list start anew.
 */
export function hrefWith(
  path: string,
  params: SearchParams,
  changes: Record<string, string | undefined>,
): string {
  const next = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...params, cursor: undefined, ...changes })) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined && each !== "") next.append(name, each);
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
