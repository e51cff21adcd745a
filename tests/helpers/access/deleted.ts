import { expect } from "vitest";
import { apiClient } from "@/tests/helpers/client";
import type { World } from "./callers";
import type { Sample } from "./sample";

/** Deletes what a sample is about, so that it can be restored. @param by who deletes it; otherwise the workspace's owner */
export async function deleted(
  { baseUrl, workspace, users }: World,
  list: "budgets" | "views" | "invitations" | "alert-channels",
  sample: Sample,
  by = users.owner,
): Promise<Sample> {
  const path = `/api/v1/workspaces/${workspace.slug}/${list}/${sample.params?.id}`;
  const { status } = await apiClient(baseUrl, by.token).call("DELETE", path);
  expect(status).toBe(200);
  return sample;
}
