import { expect, test } from "vitest";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const harness = withSharedHarness();
const path = "/api/openapi.json";

test("Is compressed, and not sent again to callers that have it", async () => {
  const address = `${harness.services[0]?.baseUrl}${path}`;
  const plain = await fetch(address, { headers: { "accept-encoding": "identity" } });
  const zipped = await fetch(address, { headers: { "accept-encoding": "gzip" } });
  expect(plain.headers.get("content-encoding")).toBeNull();
  expect(zipped.headers.get("content-encoding")).toBe("gzip");
  expect([plain, zipped].map(({ headers }) => headers.get("vary"))).toEqual([
    "Accept-Encoding",
    "Accept-Encoding",
  ]);
  const text = await plain.text();
  expect(await zipped.text()).toBe(text);
  expect(Number(zipped.headers.get("content-length"))).toBeLessThan(text.length / 5);
  const tags = [plain, zipped].map(({ headers }) => headers.get("etag") ?? "");
  expect(new Set(tags).size).toBe(2);
  for (const [tag, encoding] of [
    [tags[0], "identity"],
    [`W/${tags[1]}`, "gzip"],
  ] as const) {
    const again = await fetch(address, {
      headers: { "accept-encoding": encoding, "if-none-match": tag ?? "" },
    });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    expect(again.headers.get("access-control-allow-origin")).toBe("*");
  }
});
