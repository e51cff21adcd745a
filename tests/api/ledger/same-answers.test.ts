import { afterAll, beforeAll, expect, test } from "vitest";
import { routes } from "@/app/routes.generated";
import { withHarness } from "@/tests/helpers/harness";
import { startNextAlone } from "@/tests/helpers/next-alone";
import { exchange } from "@/tests/helpers/raw-http";

const harness = withHarness({ services: 0 });
const servers: { baseUrl: string; stop(): Promise<unknown> }[] = [];

beforeAll(async () => {
  // Next alone does not know which requests are of this machine: without a token, its metrics are for nobody.
  const settings = { METRICS_TOKEN: "token-of-the-monitoring" };
  servers.push(
    await harness.start(settings),
    await harness.start({ ...settings, OUTLAY_FAST_LANE: "off" }),
    await startNextAlone({ ...settings, POSTGRES_URL: harness.database.url }),
  );
});
afterAll(async () => {
  await servers[2]?.stop();
});

/** The servers compared: ours on its lane, ours through Next, and Next alone. */
const ask = (line: string) =>
  Promise.all(
    servers.map(async ({ baseUrl }) => {
      const { status, headers } = await exchange(baseUrl, [
        `${line} HTTP/1.1`,
        "Host: localhost",
        "Connection: close",
      ]);
      const { allow = null, location = null } = headers;
      return { status, allow: allow?.split(", ").sort().join(", ") ?? null, location };
    }),
  );

/** A path of the route, its parameters filled in. */
const addresses = routes.map(({ path }) =>
  path.replace("[...path]", "some/thing").replace(/\[[^\]]+\]/g, "01a1b2c3-0000-7000-8000-000000000000"),
);

test.each(addresses)("Answers OPTIONS and other methods of %s alike on every server", async (path) => {
  for (const method of ["OPTIONS", "HEAD", "DELETE", "PUT", "PATCH"]) {
    const [lane, next, alone] = await ask(`${method} ${path}`);
    expect({ method, ...next }).toEqual({ method, ...lane });
    expect({ method, ...alone }).toEqual({ method, ...lane });
    if (method === "OPTIONS") expect([204, 404, 405]).toContain(lane?.status);
  }
});

test.each([...addresses, "/sign-in", "/acme/keys", "/docs", "/api"])(
  "Redirects %s with a closing slash or repeated ones to its one address, on every server",
  async (path) => {
    for (const [asked, location] of [
      [`${path}/`, path],
      [`${path}/?a=1`, `${path}?a=1`],
      [`/${path}`, path],
      [`/${path}/?b=//`, `${path}/?b=//`],
    ] as const) {
      for (const method of ["GET", "POST"])
        expect([asked, ...(await ask(`${method} ${asked}`))]).toEqual([
          asked,
          ...Array(3).fill({ status: 308, allow: null, location }),
        ]);
    }
  },
);

test("Redirects to no other host", async () => {
  for (const path of ["//evil.example/", "/\\evil.example/", "//evil.example//x/", "/%5Cevil.example/"]) {
    for (const { location } of await ask(`GET ${path}`)) expect(location ?? "/").toMatch(/^\/(?![/\\])/);
  }
});
