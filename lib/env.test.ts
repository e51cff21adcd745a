import { expect, test } from "vitest";
import { EnvError, parseEnv } from "./env";

test.each([
  ["true", true],
  ["false", false],
  ["1", false],
  ["TRUE", false],
  ["yes", false],
  ["", false],
  [undefined, false],
])("Allows the environment's key in production for SVC_ALLOW_ENV_API_KEY=%s: %s", (value, allowed) => {
  expect(parseEnv({ SVC_ALLOW_ENV_API_KEY: value }).SVC_ALLOW_ENV_API_KEY).toBe(allowed);
});

test("Reads host names in any case, with spaces between them", () => {
  expect(parseEnv({ ALLOWED_HOSTS: " Outlay.example, inside ,10-0-0-7.internal" }).ALLOWED_HOSTS).toEqual([
    "outlay.example",
    "inside",
    "10-0-0-7.internal",
  ]);
  expect(parseEnv({}).ALLOWED_HOSTS).toEqual([]);
});

test.each(["https://outlay.example", "outlay.example:8443", "outlay.example/", "*", "*.example", ".example"])(
  "Refuses %s as a host name, and says which setting it is",
  (name) => {
    expect(() => parseEnv({ ALLOWED_HOSTS: `inside,${name}` })).toThrow(EnvError);
    expect(() => parseEnv({ ALLOWED_HOSTS: name })).toThrow(/ALLOWED_HOSTS: must be host names/);
  },
);

test("Refuses to serve no pages where Next is to serve every route", () => {
  expect(() => parseEnv({ OUTLAY_PAGES: "off", OUTLAY_FAST_LANE: "off" })).toThrow(
    /OUTLAY_PAGES: cannot be off/,
  );
});
