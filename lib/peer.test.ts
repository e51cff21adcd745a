import { expect, test } from "vitest";
import { isAddressIn, isAddressRange } from "./ip-range";
import { clientAddress } from "./peer";

const proxies = ["10.0.0.0/8", "::1/128"];

test("Uses the socket's address, whatever the caller claims", () => {
  const from = { peer: "203.0.113.7", forwardedFor: "198.51.100.1, 10.0.0.1", trustedProxies: proxies };
  expect(clientAddress(from)).toBe("203.0.113.7");
  expect(clientAddress({ ...from, trustedProxies: [] })).toBe("203.0.113.7");
});

test("Reads X-Forwarded-For from the right behind a trusted proxy, past trusted hops only", () => {
  const behind = (forwardedFor: string | null, peer = "10.0.0.1") =>
    clientAddress({ peer, forwardedFor, trustedProxies: proxies });
  expect(behind("203.0.113.7")).toBe("203.0.113.7");
  expect(behind("198.51.100.99, 203.0.113.7")).toBe("203.0.113.7");
  expect(behind("198.51.100.99, 203.0.113.7, 10.0.0.2")).toBe("203.0.113.7");
  expect(behind("203.0.113.7", "::ffff:10.0.0.1")).toBe("203.0.113.7");
  expect(behind(null)).toBe("10.0.0.1");
});

test("Matches no list with an address that cannot be parsed", () => {
  const caller = clientAddress({
    peer: "10.0.0.1",
    forwardedFor: "203.0.113.7, unknown",
    trustedProxies: proxies,
  });
  expect(caller).toBe("unknown");
  expect(isAddressIn(caller, ["0.0.0.0/0", "::/0"])).toBe(false);
});

test("Ignores ports and brackets that proxies add", () => {
  const behind = (forwardedFor: string) =>
    clientAddress({ peer: "10.0.0.1", forwardedFor, trustedProxies: proxies });
  expect(behind("203.0.113.7:51234")).toBe("203.0.113.7");
  expect(behind("[2001:db8::1]:51234")).toBe("2001:db8::1");
});

test("Accepts only addresses and CIDR blocks as ranges, not plain numbers", () => {
  for (const good of ["10.0.0.0/8", "203.0.113.7", "2001:db8::/32", "::1", "::ffff:10.0.0.0/104"])
    expect([good, isAddressRange(good)]).toEqual([good, true]);
  for (const bad of [
    "10",
    "10.0.0.0/33",
    "10.0.0/8",
    "2001:db8::/129",
    "10.0.0.0/8/8",
    "example.com",
    "",
    "0x7f.1",
    "10.0.0.0/-1",
  ])
    expect([bad, isAddressRange(bad)]).toEqual([bad, false]);
});
