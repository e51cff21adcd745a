import { expect, test } from "vitest";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { withHarness } from "@/tests/helpers/harness";

const harness = withHarness();
const path = "/api/v1/projects/checkout/spend";

test.each([
  [
    "a column",
    "alter table public.projects rename column slug to handle",
    "alter table public.projects rename column handle to slug",
  ],
  ["a table", "alter table public.projects rename to plans", "alter table public.plans rename to projects"],
  ["a schema", "alter schema private rename to hidden", "alter schema hidden rename to private"],
])(
  "Asks callers of an old process to come back while a new one has renamed %s",
  async (_, upgrade, revert) => {
    const { secret } = await harness.fixtures.key(await harness.fixtures.workspace());
    const client = apiClient(harness.services[0]?.baseUrl ?? "", secret);
    expect((await client.post(costMessage())).status).toBe(201);
    expect((await client.get(path)).status).toBe(200);
    await harness.fixtures.sql.query(upgrade);
    const during = await client.get(path);
    await harness.fixtures.sql.query(revert);
    expect([during.status, during.body.error]).toEqual([503, "unavailable"]);
    expect(during.headers.get("retry-after")).toBe("5");
    expect((await client.post(costMessage())).status).toBe(201);
  },
);
