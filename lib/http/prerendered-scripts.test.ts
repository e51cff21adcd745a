import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { hashInlineScripts, PrerenderedPages } from "./prerendered-scripts";

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "outlay-prerendered-"));
  mkdirSync(join(directory, "server/app/docs"), { recursive: true });
  const write = (file: string, text: string) => writeFileSync(join(directory, file), text);
  write("server/app/docs/messages.html", "<p>x</p><script>hello()</script>");
  write("server/app/_not-found.html", "<script>hello()</script><script>hello()</script>");
  const routes = { "/docs/messages": {}, "/_not-found": {}, "/icon.svg": {} };
  write("prerender-manifest.json", JSON.stringify({ routes }));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test("Hashes inline scripts as browsers do and skips scripts with a source", () => {
  // The SHA-256 of `alert('Hello, world.');` is the example on MDN's page about script-src.
  expect(
    hashInlineScripts(
      `<script src="/a.js"></script><script async="" src="/b.js">x</script><script id="y">alert('Hello, world.');</script>`,
    ),
  ).toEqual(["sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng="]);
});

test("Finds the prerendered pages of a build and its error pages", () => {
  const pages = new PrerenderedPages(directory);
  expect(pages.hashesOf("/docs/messages")).toHaveLength(1);
  expect(pages.fallbackHashes()).toEqual(pages.hashesOf("/docs/messages"));
  for (const path of ["/icon.svg", "/docs", "/docs/../docs/messages", "__proto__", "/sign-in"])
    expect(pages.hashesOf(path)).toBeUndefined();
});

test("Finds none without a build", () => {
  const pages = new PrerenderedPages(join(directory, "nothing"));
  expect([pages.hashesOf("/docs/messages"), pages.fallbackHashes()]).toEqual([undefined, []]);
});
