import type { Page } from "@playwright/test";

type Fiber = {
  child: Fiber | null;
  sibling: Fiber | null;
  memoizedState: { isDehydrated?: boolean; dehydrated?: unknown } | null;
};

/**
 * Whether every element of the page handles keys and clicks. It runs in the page and depends on how React stores its
 * tree: if that changes, every test times out here. A page that is not Next's is ready once loaded.
 *
 * It must not be async: `waitForFunction` takes the promise of a predicate for its success.
 */
function isAwake(): boolean {
  if (!document.querySelector('script[src*="/_next/"]')) return document.readyState === "complete";
  // Streamed content has replaced its skeleton.
  if (document.querySelector('template[id^="B:"], div[hidden][id^="S:"]')) return false;
  const [container] = Object.entries(document).filter(([name]) => name.startsWith("__reactContainer$"));
  const root: Fiber | undefined = container?.[1].stateNode.current;
  if (!root || root.memoizedState?.isDehydrated) return false;
  for (const fibers = [root]; fibers.length > 0; ) {
    const { memoizedState: state, child, sibling } = fibers.pop() as Fiber;
    if (state?.dehydrated) return false;
    fibers.push(...[child, sibling].filter((each) => each !== null));
  }
  return true;
}

/**
 * Whether the page was idle since this was first asked. Effects run after the screen was painted; one of them handles keys
 * of the whole window.
 */
function wasIdle(): boolean {
  if (!document.querySelector('script[src*="/_next/"]')) return true;
  const page = window as typeof window & { outlayWasIdle?: boolean };
  if (page.outlayWasIdle === undefined) {
    page.outlayWasIdle = false;
    requestIdleCallback(
      () => {
        page.outlayWasIdle = true;
      },
      { timeout: 1_000 },
    );
  }
  return page.outlayWasIdle;
}

/** Every 50 ms: at every frame, as Playwright would ask, walking through the tree takes a tenth of the page's processor time. */
const polling = 50;

/** Makes a page's `goto`, `reload`, `goBack` and `waitForURL` wait until it handles input: earlier input is lost. A `goto` that waits only for the commit does not. */
export function keepAwake(page: Page): Page {
  const whenAwake = async <Loaded>(loading: Promise<Loaded>): Promise<Loaded> => {
    const loaded = await loading;
    await page.waitForFunction(isAwake, undefined, { polling });
    await page.waitForFunction(wasIdle, undefined, { polling });
    return loaded;
  };
  const [goTo, reload, goBack, waitForUrl] = [
    page.goto.bind(page),
    page.reload.bind(page),
    page.goBack.bind(page),
    page.waitForURL.bind(page),
  ];
  return Object.assign(page, {
    goto: (...args: Parameters<Page["goto"]>) =>
      args[1]?.waitUntil === "commit" ? goTo(...args) : whenAwake(goTo(...args)),
    reload: (...args: Parameters<Page["reload"]>) => whenAwake(reload(...args)),
    goBack: (...args: Parameters<Page["goBack"]>) => whenAwake(goBack(...args)),
    waitForURL: (...args: Parameters<Page["waitForURL"]>) => whenAwake(waitForUrl(...args)),
  });
}
