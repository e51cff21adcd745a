import { describe, expect, test } from "vitest";
import { answerTo, isPossibleRedirect, isRegisteredRedirect } from "./redirects";

describe("A redirect to this machine", () => {
  const registered = ["http://localhost/callback", "http://[::1]:1/callback?from=outlay"];

  test.each([
    "http://localhost/callback",
    "http://localhost:1/callback",
    "http://localhost:65535/callback",
    "http://[::1]/callback?from=outlay",
  ])("Accepts any port: %s", (asked) => {
    expect(isRegisteredRedirect(registered, asked)).toBe(true);
  });

  test.each([
    "http://localhost:1/other",
    "http://localhost:1/callback/",
    "http://localhost:1/a/../callback",
    "http://localhost:1/callback?more",
    "http://127.0.0.1:1/callback",
    "https://localhost/callback",
    "http://localhost.evil.example/callback",
    "http://localhost:1@evil.example/callback",
    "http://evil.example/http://localhost/callback",
    "http://[::1]/callback",
    "http://localhost:1/callback#part",
  ])("Refuses any other difference: %s", (asked) => {
    expect(isRegisteredRedirect(registered, asked)).toBe(false);
  });
});

test("Compares web redirects character by character", () => {
  const registered = ["https://app.example/callback"];
  expect(isRegisteredRedirect(registered, "https://app.example/callback")).toBe(true);
  for (const asked of [
    "https://app.example:443/callback",
    "https://app.example:8443/callback",
    "https://APP.example/callback",
    "https://app.example/callback/",
    "https://app.example/callback?",
    "http://app.example/callback",
  ]) {
    expect(isRegisteredRedirect(registered, asked)).toBe(false);
  }
});

test("Refuses a registered redirect whose kind is not allowed", () => {
  for (const redirect of [
    "http://evil.example/",
    "javascript:alert(1)",
    "data:,",
    "file:///etc/passwd",
    "evil://callback",
  ]) {
    expect(isPossibleRedirect(redirect)).toBe(false);
    expect(isRegisteredRedirect([redirect], redirect)).toBe(false);
  }
});

test.each([
  "https://app.example\\@evil.example/",
  "https://app.example/call back",
  "https://app.example/callback\n",
  "https://app.example/\u202ekcabllac",
  "https://äpp.example/callback",
])("Refuses an ambiguous redirect: %j", (redirect) => {
  expect(isPossibleRedirect(redirect)).toBe(false);
});

test("Keeps the redirect's own query and escapes the answer's parameters", () => {
  expect(answerTo("https://app.example/callback?a=1", { code: "x&y=z#", state: null, iss: undefined })).toBe(
    "https://app.example/callback?a=1&code=x%26y%3Dz%23",
  );
});
