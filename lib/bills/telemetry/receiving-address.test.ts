import { expect, test } from "vitest";
import { parseEnv } from "@/lib/env";
import { receivingAddress } from "./receiving-address";

test.each([
  ["https://outlay.example.com", "https://outlay.example.com/api/otlp"],
  ["https://outlay.example.com/", "https://outlay.example.com/api/otlp"],
  ["https://example.com/costs", "https://example.com/costs/api/otlp"],
])("A provider can send to %s", (address, base) => {
  expect(receivingAddress("anthropic", parseEnv({ BASE_URL: address }))).toEqual({ base });
});

test.each([
  "http://outlay.example.com",
  "https://localhost",
  "https://outlay",
  "https://outlay.internal",
  "https://outlay.local",
  "https://203.0.113.7",
  "https://[2001:db8::1]",
  "https://outlay.example.com:8443",
])("No provider can send to %s, and the setting to change is named", (address) => {
  expect(receivingAddress("anthropic", parseEnv({ BASE_URL: address }))).toMatchObject({
    problem: expect.stringContaining("BASE_URL"),
  });
});

test("A provider that is asked elsewhere may send to an internal address", () => {
  const settings = parseEnv({
    BASE_URL: "http://localhost:3000",
    PROVIDER_URLS: "anthropic=https://gateway.internal",
  });
  expect(receivingAddress("anthropic", settings)).toEqual({ base: "http://localhost:3000/api/otlp" });
  expect(receivingAddress("openrouter", settings)).toHaveProperty("problem");
});
