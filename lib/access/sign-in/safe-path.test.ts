import { expect, test } from "vitest";
import { safePath } from "./safe-path";

test.each(["/acme", "/acme/keys?tab=mine#top", "/reset/new"])("%s is a way on", (path) => {
  expect(safePath(path)).toBe(path);
});

test.each([
  "",
  null,
  undefined,
  "acme",
  "//evil.example",
  "/\\evil.example",
  "\\\\evil.example",
  "/\t/evil.example",
  "/\n/evil.example",
  "https://evil.example",
  "javascript:alert(1)",
  " //evil.example",
  "/a\\..\\..//evil.example",
  "/..//evil.example",
  "/a/..//evil.example",
  "/.//evil.example",
])("%j is none: the way is home", (path) => {
  expect(safePath(path)).toBe("/workspaces");
});
