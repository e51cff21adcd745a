/** A small file that the service itself answers, not a proxy in front of it. */
const probePath = "/icon.svg";

/** Pauses between probes; the last one repeats. */
const pausesMs = [500, 1_000, 2_000, 3_000];

/** The statuses with which a proxy reports that the service is unavailable. */
const gatewayFailures = [502, 503, 504];

let answeredAt = Date.now();

/** When the service last answered this page, in milliseconds since 1970. */
export const lastAnswerAt = (): number => answeredAt;

/**
 * Watches the requests of this page to its own origin. If a request of Next's router gets a proxy's error, it fails as if there was
 * no answer, so that the router waits and tries again instead of leaving the page. When any request gets no answer, the window gets
 * an `offline` event: Next then polls the service until it answers, and `useOffline` is true meanwhile.
 */
export function watchRequests(): void {
  const send = window.fetch;
  window.fetch = async (input, init) => {
    const { origin } = new URL(input instanceof Request ? input.url : input, location.href);
    if (origin !== location.origin) return send(input, init);
    let response: Response;
    try {
      response = await send(input, init);
    } catch (error) {
      if (error instanceof TypeError) reportUnreachable();
      throw error;
    }
    if (gatewayFailures.includes(response.status) && isOfRouter(init)) {
      reportUnreachable();
      throw new TypeError(`The service cannot be reached: a proxy answered ${response.status}.`);
    }
    if (response.status < 500) answeredAt = Date.now();
    return response;
  };
}

/** Whether Next's router sent a request: for a page, or to check whether the service answers again. */
function isOfRouter(init: RequestInit | undefined): boolean {
  return new Headers(init?.headers).has("rsc");
}

function reportUnreachable(): void {
  window.dispatchEvent(new Event("offline"));
}

/** Resolves as soon as the service answers, after as many attempts as needed. */
export async function whenReachable(): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      const { status } = await fetch(probePath, { method: "HEAD", cache: "no-store" });
      if (!gatewayFailures.includes(status)) return;
      reportUnreachable();
    } catch {
      // `watchRequests` has reported the failure.
    }
    await new Promise((resolve) => setTimeout(resolve, pausesMs[Math.min(attempt, pausesMs.length - 1)]));
  }
}
