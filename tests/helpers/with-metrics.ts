import { randomUUID } from "node:crypto";
import { beforeAll } from "vitest";
import type { Metrics } from "@/lib/contract/spend/metrics";
import { apiClient, costMessage } from "./client";
import type { Harness } from "./harness";
import { addUser } from "./team";

/**
 * Creates a workspace for the tests of a file, with a key that records and a viewer who reads. The properties of the result
 * are set before the first test.
 */
export function withMetrics(harness: Harness) {
  const made = {} as { slug: string; key: Client; viewer: Client; token: string };
  beforeAll(async () => {
    made.slug = `w-${randomUUID()}`;
    const id = await harness.fixtures.workspace(made.slug);
    const baseUrl = harness.services[0]?.baseUrl ?? "";
    made.key = apiClient(baseUrl, (await harness.fixtures.key(id)).secret);
    made.token = (await addUser(harness, id, "viewer")).token;
    made.viewer = apiClient(baseUrl, made.token);
  });
  return Object.assign(made, {
    /** Reads the metrics as the viewer. @param query of the URL */
    read: async (query: string) =>
      (await made.viewer.get(`/api/v1/workspaces/${made.slug}/metrics?${query}`)).body as unknown as Metrics &
        Record<string, unknown>,
    /** Records a message that costs 1 USD, unless it says otherwise. */
    post: (message: Record<string, unknown>) => made.key.post(costMessage({ estimated_cost: 1, ...message })),
  });
}

type Client = ReturnType<typeof apiClient>;
