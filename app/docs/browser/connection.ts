import { followWhenReachable } from "@/components/connection/follow-link";
import { watchRequests } from "@/components/connection/service";

/**
 * Makes links wait for a service that is away, and says so: otherwise a click would replace the reference by the browser's
 * error page.
 */
export function waitForService(): void {
  const notice = document.querySelector<HTMLElement>("[data-unreachable]");
  const show = (isAway: boolean) => {
    if (notice) notice.hidden = !isAway;
  };
  watchRequests();
  addEventListener("offline", () => show(true));
  addEventListener("online", () => show(false));
  // The browser may keep this page as it was left, and show it again.
  addEventListener("pageshow", () => show(false));
  document.addEventListener("click", followWhenReachable);
}
