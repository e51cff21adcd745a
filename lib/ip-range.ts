import ipaddr from "ipaddr.js";

/** Parses an IP address. An IPv4 address mapped into IPv6 becomes that IPv4 address. Undefined for other text. */
function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  // A zone (fe80::1%eth0) names an interface of this machine and is not part of the address.
  const bare = text.replace(/%.*$/, "");
  return ipaddr.isValid(bare) ? ipaddr.process(bare) : undefined;
}

/** Parses `10.0.0.0/8`, `2001:db8::/32` or a single address. Undefined for other text. */
function parseRange(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] | undefined {
  const [base = "", bits, ...rest] = text.split("/");
  const address = ipaddr.isValid(base) ? ipaddr.parse(base) : undefined;
  if (!address || rest.length > 0) return undefined;
  const width = address.kind() === "ipv4" ? 32 : 128;
  const length = bits === undefined ? width : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
  if (!(length <= width)) return undefined;
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && length >= 96) {
    return [address.toIPv4Address(), length - 96];
  }
  return [address, length];
}

/** Whether text is an address or a CIDR range that `isAddressIn` understands. ipaddr.js also accepts `10`. */
export function isAddressRange(text: string): boolean {
  return (
    /[.:]/.test(text) &&
    (/^\d+(\.\d+){3}(\/|$)/.test(text) || text.includes(":")) &&
    parseRange(text) !== undefined
  );
}

/**
 * The stored form of an address or CIDR range: `203.0.113.9/24` becomes `203.0.113.0/24`, a single address becomes a
 * range of one. Undefined for other text, and for ambiguous text (some programs read `010.0.0.1` as octal).
 */
export function canonicalRange(text: string): string | undefined {
  const [base = ""] = text.split("/");
  const isPlain = text.includes(":") ? !text.includes("%") : ipaddr.IPv4.isValidFourPartDecimal(base);
  const range = isPlain && isAddressRange(text) ? parseRange(text) : undefined;
  if (!range) return undefined;
  const [address, length] = range;
  const network = address.toByteArray().map((byte, index) => {
    const kept = Math.min(8, Math.max(0, length - index * 8));
    return byte & (0xff00 >> kept) & 0xff;
  });
  return `${ipaddr.fromByteArray(network)}/${length}`;
}

/** Whether `address` is in one of `ranges` (CIDR or single addresses). An unknown address is in none. */
export function isAddressIn(address: string | undefined, ranges: readonly string[]): boolean {
  if (address === undefined || ranges.length === 0) return false;
  const parsed = parseAddress(address);
  if (!parsed) return false;
  return ranges.some((text) => {
    const range = parseRange(text);
    return (
      range !== undefined && range[0].kind() === parsed.kind() && parsed.match(range as [ipaddr.IPv4, number])
    );
  });
}
