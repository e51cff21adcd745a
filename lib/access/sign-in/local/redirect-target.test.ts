import { expect, test } from "vitest";
import { serviceAddress } from "@/lib/service-address";
import { allowedRedirect } from "./redirect-target";

const own = new URL(serviceAddress()).href;
const reached = (wanted: string, ...patterns: string[]) => allowedRedirect(wanted, patterns).href;

test.each([
  ["https://app.example.com", "https://app.example.com"],
  ["https://app.example.com/", "https://app.example.com"],
  ["https://app.example.com/callback?next=%2Fx#part", "https://app.example.com/**"],
  ["https://preview-7.example.com/", "https://preview-*.example.com"],
  ["https://app.example.com/a", "https://app.example.com/?"],
  ["https://app.example.com/a", "https://app.example.com/[abc]"],
  ["https://app.example.com/d", "https://app.example.com/[!abc]"],
  ["https://app.example.com/a*b", "https://app.example.com/a\\*b"],
  ["com.example.app://callback", "com.example.app://callback"],
])("Allows %s where %s is listed", (wanted, pattern) => {
  expect(reached(wanted, pattern)).toBe(new URL(wanted).href);
});

test.each([
  ["https://app.example.com/callback", ""],
  ["https://app.example.com/callback", "https://app.example.com"],
  ["https://app.example.com/a/b", "https://app.example.com/*"],
  ["https://appXexample.com/", "https://app.example.com"],
  ["https://a.b.example.com/", "https://*.example.com"],
  ["https://evil.example/?https://app.example.com/", "https://app.example.com/**"],
  ["https://evil.example\\@app.example.com/", "https://app.example.com/**"],
  ["https://app.example.com@evil.example/", "https://app.example.com**"],
  ["https://user:word@app.example.com/", "https://**"],
  ["javascript:alert(1)", "**"],
  ["data:text/html,x", "**"],
  ["//evil.example", "**"],
  ["/relative", "**"],
])("Replaces %s by the service's address where only %s is listed", (wanted, pattern) => {
  expect(reached(wanted, pattern)).toBe(own);
});

test("Allows this machine without listing it, and nothing else", () => {
  for (const wanted of ["http://localhost:9/mine", "http://127.0.0.1:9/mine", "http://[::1]:9/mine"])
    expect(reached(wanted)).toBe(wanted);
  expect(reached("https://app.example.com/")).toBe(own);
});
