/** How a person wants to see a table. `columns` has the ids of columns that they hid. */
export type TableView = { isCompact: boolean; hidden: readonly string[] };

/** The views of tables by the id of the table; a table that is not in it is seen as it was designed. */
export type TableViews = Readonly<Record<string, TableView>>;

/** The views that a user's browser had sent with the request, from the server to its tables. */
export type RememberedViews = { owner: string; views: TableViews };

/** The cookie that keeps the views of whoever uses this browser. */
export const viewCookie = "outlay_tables";

export const plainView: TableView = { isCompact: false, hidden: [] };

const yearS = 31_536_000;

/** Writes the cookie as `document.cookie` takes it. @param owner the id of the user whose views they are */
export function writeViewCookie(owner: string, views: TableViews, isSecure: boolean): string {
  const changed = Object.entries(views).filter(([, view]) => view.isCompact || view.hidden.length > 0);
  const value = encodeURIComponent(JSON.stringify({ owner, views: Object.fromEntries(changed) }));
  return `${viewCookie}=${value}; Path=/; Max-Age=${yearS}; SameSite=Lax${isSecure ? "; Secure" : ""}`;
}

/** Reads the cookie's value. @returns no views for a value that is not ours or another user's */
export function readViewCookie(owner: string, value: string | undefined): TableViews {
  const read = parseJson(value);
  if (!isRecord(read) || read.owner !== owner || !isRecord(read.views)) return {};
  return Object.fromEntries(
    Object.entries(read.views).flatMap(([id, view]) => {
      if (!isRecord(view) || !Array.isArray(view.hidden)) return [];
      const hidden = view.hidden.filter((column): column is string => typeof column === "string");
      return [[id, { isCompact: view.isCompact === true, hidden }]];
    }),
  );
}

function parseJson(value: string | undefined): unknown {
  try {
    // Next has decoded what the server passes; what has been decoded has no percent sign.
    return JSON.parse(decodeURIComponent(value ?? "null"));
  } catch {
    return null;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
