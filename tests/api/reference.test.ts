import { request as httpRequest } from "node:http";
import { gunzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { withHarness } from "@/tests/helpers/harness";
import { exchange } from "@/tests/helpers/raw-http";
import { withPages } from "@/tests/helpers/service";

const harness = withHarness({ services: 0, settings: withPages });
let fast: string;
let next: string;
let asset: string;

beforeAll(async () => {
  const services = [await harness.start(), await harness.start({ OUTLAY_FAST_LANE: "off" })];
  [fast = "", next = ""] = services.map(({ baseUrl }) => baseUrl);
  asset =
    /href="(\/docs\/assets\/docs\.[^"]+\.css)"/.exec(await (await fetch(`${fast}/docs`)).text())?.[1] ?? "";
});

type Answer = { status: number; headers: Record<string, string | string[] | undefined>; body: Buffer };

/** Sends a request without what `fetch` adds or decodes: the body is as it was sent. */
function ask(path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Answer> {
  return new Promise((resolve, reject) => {
    httpRequest(fast + path, { method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks),
        }),
      );
    })
      .on("error", reject)
      .end();
  });
}

test("Serves the API reference from memory exactly as Next does", async () => {
  const pages = ["/docs", "/docs/messages", "/docs/messages.html", "/docs/index", asset];
  for (const path of [...pages, ...pages.map((page) => `${page}?from=here`)]) {
    const [ours, theirs] = await Promise.all([fetch(fast + path), fetch(next + path)]);
    expect([path, ours.status, await ours.text()]).toEqual([path, 200, await theirs.text()]);
    for (const name of ["content-type", "cache-control", "x-frame-options", "referrer-policy", "vary"]) {
      const of = (answer: Response) => answer.headers.get(name)?.toLowerCase().replace(/\s/g, "") ?? "";
      if (name === "vary") expect(of(theirs)).toContain(of(ours));
      else expect([path, name, of(ours)]).toEqual([path, name, of(theirs)]);
    }
  }
  expect((await ask("/docs")).headers["content-security-policy"]).toContain("script-src 'self';");
});

describe("A page of the reference", () => {
  test.each([
    [undefined, undefined],
    ["gzip, deflate, br", "gzip"],
    ["br;q=1, *;q=0.1", "gzip"],
    ["X-Gzip", "gzip"],
    ["deflate, br", undefined],
    ["gzip;q=0, *", undefined],
    ["gzip;q=0.2, identity;q=0.9", undefined],
  ])("Is sent to a client that accepts %s with the encoding %s", async (accepted, encoding) => {
    const plain = await ask("/docs/messages");
    const { status, headers, body } = await ask(
      "/docs/messages",
      accepted ? { "accept-encoding": accepted } : {},
    );
    expect([status, headers["content-encoding"], headers.vary]).toEqual([200, encoding, "Accept-Encoding"]);
    expect(headers["content-length"]).toBe(String(body.length));
    expect((encoding ? gunzipSync(body) : body).equals(plain.body)).toBe(true);
    if (encoding) expect(body.length * 4).toBeLessThan(plain.body.length);
  });

  test.each(["identity", "gzip"])("Is not sent again to a client that has it (%s)", async (encoding) => {
    const accepts = { "accept-encoding": encoding };
    const { headers } = await ask("/docs/messages", accepts);
    const etag = String(headers.etag);
    for (const kept of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const again = await ask("/docs/messages", { ...accepts, "if-none-match": kept });
      expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, etag]);
      for (const name of ["vary", "cache-control", "content-security-policy"])
        expect(again.headers[name]).toBe(headers[name]);
      expect(again.headers["x-content-type-options"]).toBe("nosniff");
    }
    expect((await ask("/docs/messages", { ...accepts, "if-none-match": '"other"' })).status).toBe(200);
  });

  test("Has an ETag for each encoding that no other page has", async () => {
    const etags = await Promise.all(
      ["/docs", "/docs/messages"].flatMap((path) =>
        ["identity", "gzip"].map(
          async (encoding) => (await ask(path, { "accept-encoding": encoding })).headers.etag,
        ),
      ),
    );
    expect(new Set(etags).size).toBe(4);
  });

  test("Answers HEAD with the headers of GET", async () => {
    const [{ headers }, head] = [await ask("/docs"), await ask("/docs", {}, "HEAD")];
    expect([head.status, head.body.length]).toEqual([200, 0]);
    const without = ({ date: _, ...rest }: Answer["headers"]) => rest;
    expect(without(head.headers)).toEqual(without(headers));
  });
});

test("Serves only the files of the reference at its addresses", async () => {
  const lost = [
    "/docs/nothing",
    "/docs/assets",
    "/docs/assets/nothing.js",
    "/docs/%2e%2e/%2e%2e/package.json",
    "/docs/..%2f..%2fpackage.json",
    "/docs/assets/..%5c..%5c..%5cpackage.json",
    "/docs/__proto__",
    "/docs/constructor",
  ];
  for (const path of lost) {
    const { status, body } = await exchange(fast, [
      `GET ${path} HTTP/1.1`,
      "Host: localhost",
      "Connection: close",
    ]);
    expect([path, status]).toEqual([path, 404]);
    expect(body).not.toContain('"dependencies"');
  }
  expect((await fetch(`${fast}/docs`, { method: "POST" })).status).toBe(
    (await fetch(`${next}/docs`, { method: "POST" })).status,
  );
  expect((await fetch(fast + asset)).headers.get("cache-control")).toBe(
    "public, max-age=31536000, immutable",
  );
});
