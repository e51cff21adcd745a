import { whenReachable } from "./service";

/** The latest link that waits for the service. */
let awaited: string | undefined;

/**
 * Follows a link that the browser itself would open, as the one to the API reference, once the service answers: otherwise
 * the browser would replace the page by its own error page. Links of Next's router are prevented before this is called.
 */
export function followWhenReachable(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (!link || link.origin !== location.origin || link.target || link.hasAttribute("download")) return;
  const isSamePage = link.pathname === location.pathname && link.search === location.search;
  if (isSamePage && link.hash) return;
  event.preventDefault();
  const { href } = link;
  awaited = href;
  void whenReachable().then(() => {
    if (awaited === href) location.assign(href);
  });
}
