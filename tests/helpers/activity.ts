import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { apiClient } from "./client";
import type { Harness } from "./harness";
import { addUser } from "./team";

type Client = ReturnType<typeof apiClient>;
export type ActivityRow = Record<string, unknown>;

/** Creates a workspace with a key and a viewer who reads activity and metrics. */
export async function makeActivityWorkspace(harness: Harness) {
  const baseUrl = harness.services[0]?.baseUrl ?? "";
  const slug = `w-${randomUUID()}`;
  const id = await harness.fixtures.workspace(slug);
  const made = await harness.fixtures.key(id);
  const viewer = apiClient(baseUrl, (await addUser(harness, id, "viewer")).token);
  const key = apiClient(baseUrl, made.secret);
  const activity = async (query = "") =>
    (await viewer.get(`/api/v1/workspaces/${slug}/activity?${query}`)).body;
  const metrics = async (query = "") =>
    (await viewer.get(`/api/v1/workspaces/${slug}/metrics?${query}`)).body;
  return { slug, id, keyId: made.id, key, viewer, activity, metrics };
}

/** Records messages in one bulk call. @returns their ids */
export const bulk = async (key: Client, messages: unknown[]) => {
  const { body } = await key.call("POST", "/api/v1/messages/batch", { messages });
  expect(body.refused, JSON.stringify(body.results)).toBe(0);
  return (body.results as { id: string }[]).map(({ id }) => id);
};
/** The rows of one page. */
export const rowsOf = (body: Record<string, unknown>) => body.activity as ActivityRow[];

/** Reads every page of a query. */
export async function pages(
  read: (query: string) => Promise<Record<string, unknown>>,
  query: string,
  between?: () => unknown,
) {
  const all: ActivityRow[][] = [];
  for (let cursor = ""; ; ) {
    const body = await read(`${query}${cursor && `&cursor=${cursor}`}`);
    all.push(rowsOf(body));
    if (body.next_cursor === null) return all;
    cursor = String(body.next_cursor);
    await between?.();
  }
}
