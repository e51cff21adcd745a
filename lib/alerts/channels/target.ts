import { parseReceiver, RefusedAddress } from "@/lib/alerts/delivery/post";
import type {
  ChannelKind,
  CreateChannelRequest,
  EditChannelRequest,
} from "@/lib/contract/alerts/alert-channels";
import { env } from "@/lib/env";
import { validationFailed } from "@/lib/errors";

/** Where a channel sends: the part that is shown, and the part that is kept secret. Mail has no secret part. */
export type Target = { target: string; address: string | null };

const fieldOf: Record<ChannelKind, "url" | "routing_key" | "addresses"> = {
  webhook: "url",
  slack: "url",
  discord: "url",
  teams: "url",
  pagerduty: "routing_key",
  email: "addresses",
};

/**
 * Reads a channel's address from a request.
 * @returns undefined if an edit does not change it
 * @throws ServiceError validation_failed for a field of another kind of channel, or an address that no channel may have
 */
export function readChannelTarget(
  kind: ChannelKind,
  request: CreateChannelRequest | EditChannelRequest,
): Target | undefined {
  const own = fieldOf[kind];
  const given = request as Partial<Record<"url" | "routing_key" | "region" | "addresses", unknown>>;
  const wrong = (["url", "routing_key", "addresses"] as const).find(
    (field) => field !== own && given[field] !== undefined,
  );
  if (wrong)
    throw validationFailed([
      { path: wrong, message: `cannot be set on a channel of the kind ${kind}; set ${own}` },
    ]);
  if ("region" in request && request.region !== undefined && given.routing_key === undefined)
    throw validationFailed([{ path: "region", message: "can only be set together with routing_key" }]);
  if ("url" in request && request.url !== undefined) return toUrl(request.url);
  if ("routing_key" in request && request.routing_key !== undefined) {
    const { region = "us" } = request;
    return { target: `PagerDuty (${region.toUpperCase()})`, address: `${region} ${request.routing_key}` };
  }
  if ("addresses" in request && request.addresses !== undefined) {
    const addresses = [...new Set(request.addresses.map((address) => address.toLowerCase()))];
    return { target: addresses.join(addressSeparator), address: null };
  }
  return undefined;
}

const addressSeparator = ", ";

/** The addresses of a channel for mail. */
export function addressesOf({ target }: Pick<Target, "target">): string[] {
  return target.split(addressSeparator);
}

function toUrl(address: string): Target {
  try {
    const url = parseReceiver(address, env().ALERT_ALLOWED_HOSTS);
    url.hash = "";
    return { target: url.host, address: url.href };
  } catch (error) {
    if (error instanceof RefusedAddress) throw validationFailed([{ path: "url", message: error.message }]);
    throw error;
  }
}
