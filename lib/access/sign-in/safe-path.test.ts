import { expect, test } from "vitest";
import { safePath } from "./safe-path";

test.each(["/acme", "/acme/keys?tab=mine#top", "/reset/new"])("Accepts %s as the next page", (path) => {
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
])("Sends %j to the home page instead", (path) => {
  expect(safePath(path)).toBe("/workspaces");
});
