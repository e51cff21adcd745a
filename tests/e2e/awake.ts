import type { Page } from "@playwright/test";

type Fiber = {
  child: Fiber | null;
  sibling: Fiber | null;
  memoizedState: { isDehydrated?: boolean; dehydrated?: unknown } | null;
};

/**
 * Whether everything on the page hears a key or a click. It runs in the page, and knows how React keeps its tree: a React
 * that keeps it otherwise lets every test time out here. A page that is none of Next's is awake once it is loaded.
 */
async function isAwake(): Promise<boolean> {
  if (!document.querySelector('script[src*="/_next/"]')) return document.readyState === "complete";
  // What is streamed is in its place, where a skeleton was.
  if (document.querySelector('template[id^="B:"], div[hidden][id^="S:"]')) return false;
  const [container] = Object.entries(document).filter(([name]) => name.startsWith("__reactContainer$"));
  const root: Fiber | undefined = container?.[1].stateNode.current;
  if (!root || root.memoizedState?.isDehydrated) return false;
  for (const fibers = [root]; fibers.length > 0; ) {
    const { memoizedState: state, child, sibling } = fibers.pop() as Fiber;
    if (state?.dehydrated) return false;
    fibers.push(...[child, sibling].filter((each) => each !== null));
  }
  // Effects run after what they follow is on the screen; keys of the whole window are heard by one.
  await new Promise((resolve) => requestIdleCallback(resolve, { timeout: 1_000 }));
  return true;
}

/** Lets `goto`, `reload` and `goBack` of a page wait until it is awake: what is pressed before that is lost. */
export function keepAwake(page: Page): Page {
  const whenAwake = async <Loaded>(loading: Promise<Loaded>): Promise<Loaded> => {
    const loaded = await loading;
    await page.waitForFunction(isAwake);
    return loaded;
  };
  const [goTo, reload, goBack] = [page.goto.bind(page), page.reload.bind(page), page.goBack.bind(page)];
  return Object.assign(page, {
    goto: (...args: Parameters<Page["goto"]>) => whenAwake(goTo(...args)),
    reload: (...args: Parameters<Page["reload"]>) => whenAwake(reload(...args)),
    goBack: (...args: Parameters<Page["goBack"]>) => whenAwake(goBack(...args)),
  });
}
