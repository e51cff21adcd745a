import { callApi } from "@/components/requests/api";
import type { AlertNews, alertNews, seenAlertsRequest } from "@/lib/contract/alerts/alert-news";

/** How often the news of a workspace are read while its page is visible. */
const pollMs = 60_000;

/**
 * The news of a workspace, kept outside React, so that they are read once for the sidebar and the top bar. They are read while the
 * page is visible. A failed call is repeated at the next interval.
 */
class NewsStore {
  #news: AlertNews | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  readonly #listeners = new Set<() => void>();
  readonly #path: string;

  constructor(workspace: string) {
    this.#path = `/api/v1/workspaces/${workspace}/alerts`;
  }

  // The arguments of useSyncExternalStore.
  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.#start();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#stop();
    };
  };
  current = (): AlertNews | undefined => this.#news;
  onServer = (): undefined => undefined;

  /** Reads the news now. @throws Problem */
  async read(): Promise<AlertNews> {
    return this.#keep(await callApi<typeof alertNews>("GET", `${this.#path}/news`));
  }

  /** Marks an alert and all before it as seen. @throws Problem */
  async markSeen(alertId: string): Promise<AlertNews> {
    const body = { alert_id: alertId };
    return this.#keep(
      await callApi<typeof alertNews, typeof seenAlertsRequest>("POST", `${this.#path}/seen`, body),
    );
  }

  #keep(news: AlertNews): AlertNews {
    this.#news = news;
    for (const listener of this.#listeners) listener();
    return news;
  }

  #poll = (): void => {
    if (document.visibilityState === "visible") this.read().catch(() => {});
  };

  #start(): void {
    this.#poll();
    this.#timer = setInterval(this.#poll, pollMs);
    document.addEventListener("visibilitychange", this.#poll);
  }

  #stop(): void {
    clearInterval(this.#timer);
    document.removeEventListener("visibilitychange", this.#poll);
  }
}

const stores = new Map<string, NewsStore>();

/** The store of a workspace's news. */
export function newsOf(workspace: string): NewsStore {
  const store = stores.get(workspace) ?? new NewsStore(workspace);
  stores.set(workspace, store);
  return store;
}
