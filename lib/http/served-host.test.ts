import { expect, test } from "vitest";
import { parseEnv } from "@/lib/env";
import { isServedHost, readRequestTarget } from "./served-host";

test.each([
  [
    "/api/health?x=http://evil.example",
    { host: "outlay.example", path: "/api/health?x=http://evil.example" },
  ],
  ["//evil.example/x", { host: "outlay.example", path: "//evil.example/x" }],
  ["http://evil.example/x?y", { host: "evil.example", path: "/x?y" }],
  ["HTTPS://evil.example?y", { host: "evil.example", path: "/?y" }],
  ["http://evil.example#f", { host: "evil.example", path: "/#f" }],
  ["http://localhost@evil.example/", { host: "localhost@evil.example", path: "/" }],
  ["http:///x", { host: "", path: "/x" }],
  ["ftp://outlay.example/x", { host: undefined, path: "/x" }],
  ["*", { host: "outlay.example", path: "*" }],
])("Reads host and path of the target %s", (target, read) => {
  expect(readRequestTarget(target, "outlay.example")).toEqual(read);
});

test("Serves the names in Vercel's variables, and only when these are set", () => {
  const settings = parseEnv({ VERCEL_BRANCH_URL: "outlay-git-main.vercel.app" });
  expect(isServedHost("outlay-git-main.vercel.app", settings)).toBe(true);
  expect(isServedHost("outlay-git-main.vercel.app", parseEnv({}))).toBe(false);
});
