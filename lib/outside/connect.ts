import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { connect as connectPlain, isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectEncrypted } from "node:tls";
import ipaddr from "ipaddr.js";
import { isAddressIn } from "@/lib/ip-range";

/** Where a request goes. `host` is a name or an IP address without brackets. */
export type Destination = { host: string; port: number; isEncrypted: boolean };

/** How addresses that callers chose are reached: resolves a host name, and opens a connection to an address. */
export type OutsideNetwork = {
  resolve(host: string): Promise<string[]>;
  /** An open connection to `address`; an encrypted one has the certificate of the target's host. Closed when `signal` aborts. */
  connect(address: string, target: Destination, signal: AbortSignal): Promise<Duplex>;
};

/** Connects to the internet and trusts the system's certificates. */
export const internet: OutsideNetwork = {
  resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  connect: async (address, { host, port, isEncrypted }, signal) => {
    const socket: Socket = isEncrypted
      ? connectEncrypted({ host: address, port, ...(isIP(host) === 0 && { servername: host }) })
      : connectPlain({ host: address, port });
    try {
      await once(socket, isEncrypted ? "secureConnect" : "connect", { signal });
      return socket;
    } catch (error) {
      socket.destroy();
      throw error;
    }
  },
};

/** A host that this service does not connect to, because it has an address that is not public. */
export class InternalAddress extends Error {
  override name = "InternalAddress";
  constructor(readonly address: string) {
    super(`The host has the address ${address}, which is not public.`);
  }
}

/**
 * Connects to a host that a caller chose, from our network. So all addresses of the host must be public, and the
 * connection goes to one that was checked, whatever the name resolves to later. Each call resolves the name anew.
 * @param allowed names of hosts, addresses and ranges that may be internal
 * @throws InternalAddress; Error where the host has no address or cannot be reached, or `signal` aborts
 */
export async function connectOutside(
  target: Destination,
  network: OutsideNetwork,
  signal: AbortSignal,
  allowed: readonly string[] = [],
): Promise<Duplex> {
  const addresses = await within(signal, network.resolve(target.host));
  const inside = addresses.find((address) => !isReachable(target.host, address, allowed));
  if (inside !== undefined) throw new InternalAddress(inside);
  const [address] = addresses;
  if (address === undefined) throw new Error("The host has no address.");
  return network.connect(address, target, signal);
}

/** Whether a setting allows a host by its name, or by its address where it is one. */
export function isAllowedHost(host: string, allowed: readonly string[]): boolean {
  const name = host.toLowerCase();
  return allowed.includes(name) || isAddressIn(isIP(name) === 0 ? undefined : name, rangesOf(allowed));
}

/** The only part of IPv6 that IANA assigns public addresses from (https://www.iana.org/assignments/ipv6-address-space). */
const publicIPv6 = ["2000::/3"];

/**
 * What is not public although it lies among public addresses: addresses that IANA reserves for protocols
 * (https://www.iana.org/assignments/iana-ipv6-special-registry), and Azure's platform, which serves each of its machines
 * (https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16). The metadata services of other clouds
 * have link-local, unique local or shared addresses.
 */
const internalAlthoughUnicast = ["2001::/23", "168.63.129.16"];

/**
 * Whether an address is public: of the special-purpose registries of IANA it is in none, and it is no IPv6 form of an IPv4
 * address (mapped, compatible, translated, 6to4, NAT64, Teredo). A mapped address is taken for the IPv4 address.
 * @param address in any notation of ipaddr.js
 */
export function isPublicAddress(address: string): boolean {
  const parsed = ipaddr.process(address);
  return (
    parsed.range() === "unicast" &&
    (parsed.kind() === "ipv4" || isAddressIn(address, publicIPv6)) &&
    !isAddressIn(address, internalAlthoughUnicast)
  );
}

function isReachable(host: string, address: string, allowed: readonly string[]): boolean {
  return (
    isPublicAddress(address) ||
    allowed.includes(host.toLowerCase()) ||
    isAddressIn(address, rangesOf(allowed))
  );
}

/** The addresses and ranges among host names. */
function rangesOf(allowed: readonly string[]): string[] {
  return allowed.filter((each) => isIP(each.split("/")[0] ?? "") !== 0);
}

/** Rejects when the signal aborts, without waiting for the promise. */
function within<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    promise.then(resolve, reject);
  });
}
