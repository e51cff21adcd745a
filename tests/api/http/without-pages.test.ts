import { expect, test } from "vitest";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const harness = withSharedHarness();

test("Records costs without pages, and answers 404 with the reason for every page", async () => {
  const { secret } = await harness.fixtures.key(await harness.fixtures.workspace());
  const baseUrl = harness.services[0]?.baseUrl ?? "";
  const client = apiClient(baseUrl, secret);
  expect((await client.post(costMessage())).status).toBe(201);
  expect((await client.get("/api/v1/nothing")).body).toMatchObject({ error: "not_found" });
  for (const path of ["/", "/sign-in", "/_next/static/chunks/main.js", "/%ff"]) {
    const response = await fetch(baseUrl + path);
    expect([path, response.status]).toEqual([path, 404]);
    expect(await response.text()).toContain("OUTLAY_PAGES is off");
    expect((await fetch(baseUrl + path, { method: "HEAD" })).status).toBe(404);
  }
  // An answer was once sent twice, which a client does not see.
  expect(harness.services[0]?.said.join("\n")).not.toContain("ERR_HTTP_HEADERS_SENT");
});
