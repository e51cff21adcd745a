/** A small file of the service, which a proxy in front of it does not answer by itself. */
const probePath = "/icon.svg";

/** Pauses between probes; the last one repeats. */
const pausesMs = [500, 1_000, 2_000, 3_000];

/** Statuses of a proxy whose service is away. */
const gatewayFailures = [502, 503, 504];

let answeredAt = Date.now();

/** When the service last answered this page, in milliseconds since 1970. */
export const lastAnswerAt = (): number => answeredAt;

/**
 * Watches the requests of this page to its own origin. A request of the router that gets only a proxy's error fails as if
 * there was no answer, so that the router waits and tries again instead of leaving the page. When any request gets no
 * answer, the window gets an `offline` event: Next then looks for the service until it answers, and `useOffline` is true.
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

/** Whether Next's router sent a request: for a page, or to look whether the service answers again. */
function isOfRouter(init: RequestInit | undefined): boolean {
  return new Headers(init?.headers).has("rsc");
}

function reportUnreachable(): void {
  window.dispatchEvent(new Event("offline"));
}

/** Resolves as soon as the service answers: at once if it does, otherwise after as many attempts as it takes. */
export async function whenReachable(): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      const { status } = await fetch(probePath, { method: "HEAD", cache: "no-store" });
      if (!gatewayFailures.includes(status)) return;
      reportUnreachable();
    } catch {
      // `watchRequests` has reported it.
    }
    await new Promise((resolve) => setTimeout(resolve, pausesMs[Math.min(attempt, pausesMs.length - 1)]));
  }
}
