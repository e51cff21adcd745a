import { describe, expect, test } from "vitest";
import { connectOutside, InternalAddress, isPublicAddress } from "./connect";

// An address of each entry of IANA's special-purpose registries, and of each way to write an IPv4 address in IPv6.

const loopback = ["127.0.0.1", "7f00:1"] as const;

const internal: Record<string, string[]> = {
  "this host and network": ["0.0.0.0", "0.1.2.3", "::", "::1", "127.0.0.1", "127.255.255.254"],
  "private use": [
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.254",
    "192.168.0.1",
    "fc00::1",
    "fd00:ec2::254",
    "fd20:ce::254",
  ],
  "link-local, with metadata services": ["169.254.169.254", "169.254.170.2", "fe80::1", "fec0::1"],
  "shared address space, with Alibaba's metadata": ["100.64.0.1", "100.100.100.200", "100.127.255.254"],
  "IETF protocol assignments": [
    "192.0.0.8",
    "192.0.0.170",
    "192.0.0.192",
    "2001:1::1",
    "2001:3::1",
    "2001:5::1",
    "2001:1ff::1",
  ],
  benchmarking: ["198.18.0.1", "198.19.255.254", "2001:2::1"],
  documentation: ["192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1", "3fff::1", "3fff:fff::1"],
  "reserved, multicast and broadcast": [
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "ff02::1",
    "4000::1",
    "fe00::1",
    "1000::1",
  ],
  "relays, discarding and segment routing": ["192.88.99.1", "100::1", "100:0:0:1::1", "5f00::1"],
  "ORCHID and drone identifiers": ["2001:10::1", "2001:20::1", "2001:30::1"],
  "Azure's platform": ["168.63.129.16", "::ffff:168.63.129.16", "::ffff:a83f:8110"],
  "IPv4 mapped into IPv6": loopback.map((v4) => `::ffff:${v4}`),
  "IPv4-compatible IPv6": [...loopback.map((v4) => `::${v4}`), "::a00:1", "::808:808"],
  "translated IPv4": loopback.map((v4) => `::ffff:0:${v4}`),
  "6to4": ["2002:7f00:1::", "2002:a00:1::1", "2002:808:808::1"],
  NAT64: [...loopback.map((v4) => `64:ff9b::${v4}`), "64:ff9b:1::7f00:1", "64:ff9b::808:808"],
  Teredo: ["2001::7f00:1", "2001:0:4136:e378:8000:63bf:3fff:fdd2"],
};

describe("An address", () => {
  test.each(Object.entries(internal))("Is not public: %s", (_, addresses) => {
    expect(addresses.filter(isPublicAddress)).toEqual([]);
  });

  test("Is public where it is assigned to somebody", () => {
    const addresses = [
      "1.1.1.1",
      "8.8.8.8",
      "93.184.215.14",
      "168.63.129.15",
      "2606:4700::1111",
      "2a00:1450::1",
      "2001:4860::8888",
      "::ffff:8.8.8.8",
    ];
    expect(addresses.filter((address) => !isPublicAddress(address))).toEqual([]);
  });
});

test("Nothing is connected to where one of a host's addresses is internal, unless a setting allows it", async () => {
  const asked: string[] = [];
  const network = (addresses: string[]) => ({
    resolve: async () => addresses,
    connect: (address: string) => {
      asked.push(address);
      return Promise.reject(new Error("connected"));
    },
  });
  const target = { host: "receiver.example", port: 443, isEncrypted: true };
  const attempt = (addresses: string[], allowed: string[] = []) =>
    connectOutside(target, network(addresses), new AbortController().signal, allowed);
  for (const address of ["::7f00:1", "168.63.129.16"]) {
    await expect(attempt(["8.8.8.8", address])).rejects.toBeInstanceOf(InternalAddress);
    expect(asked).toEqual([]);
    await expect(attempt([address], [address])).rejects.toThrow("connected");
    expect(asked.splice(0)).toEqual([address]);
  }
});
