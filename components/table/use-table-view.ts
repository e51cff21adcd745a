import { useSyncExternalStore } from "react";
import {
  plainView,
  type RememberedViews,
  readViewCookie,
  type TableView,
  type TableViews,
  viewCookie,
  writeViewCookie,
} from "./view-cookie";

const listeners = new Set<() => void>();
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** The cookie as last read, cached because useSyncExternalStore requires the same snapshot until it changes. */
let known: { owner: string; cookies: string; views: TableViews } | undefined;

function readViews(owner: string): TableViews {
  const { cookie: cookies } = document;
  if (known?.owner !== owner || known.cookies !== cookies) {
    const value = new RegExp(`(?:^|; )${viewCookie}=([^;]*)`).exec(cookies)?.[1];
    known = { owner, cookies, views: readViewCookie(owner, value) };
  }
  return known.views;
}

/**
 * A user's view of a table, and a function that changes it. The view is remembered in a cookie, so that the server renders it,
 * and nothing moves when the script takes over.
 * @param id the id of the table: `keys`
 * @param sent the views that the server read from the request's cookie
 */
export function useTableView(
  id: string,
  { owner, views: sent }: RememberedViews,
): [TableView, (view: TableView) => void] {
  const views = useSyncExternalStore(
    subscribe,
    () => readViews(owner),
    () => sent,
  );
  const remember = (view: TableView) => {
    const isSecure = window.location.protocol === "https:";
    // biome-ignore lint/suspicious/noDocumentCookie: not every browser has the Cookie Store API.
    document.cookie = writeViewCookie(owner, { ...readViews(owner), [id]: view }, isSecure);
    for (const listener of listeners) listener();
  };
  return [views[id] ?? plainView, remember];
}
