import { limitsInCents } from "./limits-in-cents";
import { limitsInDollars } from "./limits-in-dollars";
import type { Answer, Asked } from "./organization";

/** The endpoints of limits, as the providers' SDKs call them. */
export function limitEndpoint(method: string, path: string): ((asked: Asked) => Answer) | undefined {
  for (const [of, pattern, endpoint] of [...limitsInCents, ...limitsInDollars]) {
    const parts = of === method ? pattern.exec(path) : null;
    if (parts)
      return (asked) => endpoint(asked, ...parts.slice(1).map((part) => part && decodeURIComponent(part)));
  }
  return undefined;
}
