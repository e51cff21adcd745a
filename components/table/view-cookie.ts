/** A user's view of a table. `hidden` has the ids of hidden columns. */
export type TableView = { isCompact: boolean; hidden: readonly string[] };

/** The views of tables by the table's id. A table without one has its default view. */
export type TableViews = Readonly<Record<string, TableView>>;

/** The views that the user's browser sent with the request, which the server passes to its tables. */
export type RememberedViews = { owner: string; views: TableViews };

/** The cookie with the views of this browser's user. */
export const viewCookie = "outlay_tables";

export const plainView: TableView = { isCompact: false, hidden: [] };

const yearS = 31_536_000;

/** Writes the cookie in the form of `document.cookie`. @param owner the id of the user whose views they are */
export function writeViewCookie(owner: string, views: TableViews, isSecure: boolean): string {
  const changed = Object.entries(views).filter(([, view]) => view.isCompact || view.hidden.length > 0);
  const value = encodeURIComponent(JSON.stringify({ owner, views: Object.fromEntries(changed) }));
  return `${viewCookie}=${value}; Path=/; Max-Age=${yearS}; SameSite=Lax${isSecure ? "; Secure" : ""}`;
}

/** Reads the cookie's value. @returns no views for an invalid value or that of another user */
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
    // Next has already decoded the value on the server. Decoding again is safe, because the decoded value has no percent sign.
    return JSON.parse(decodeURIComponent(value ?? "null"));
  } catch {
    return null;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
