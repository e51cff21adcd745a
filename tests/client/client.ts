import { onTestFinished } from "vitest";
import { Outlay, type OutlayError, type OutlayOptions } from "@/packages/client/src/index";
import type { Harness } from "@/tests/helpers/harness";
import type { KeyOptions } from "@/tests/helpers/keys";

/** A message that a test told the client, whose label is its name. */
export const usage = (label: string, fields: Record<string, unknown> = {}) => ({
  type: "usage" as const,
  provider: "openai",
  model: "gpt-4o",
  unit_type: "input_tokens",
  quantity: 1000,
  estimated_cost: 0.01,
  label,
  ...fields,
});

/** Labels `m1` to `mN`. */
export const names = (count: number) => Array.from({ length: count }, (_, index) => `m${index + 1}`);

/** What `recordedLabels` answers if each label is recorded once. */
export const once = (labels: string[]) => Object.fromEntries(labels.map((label) => [label, 1]));

/**
 * A client with a key in a workspace of its own, and what it told `onError`. It sends soon, and is closed after the test.
 */
export async function newOutlay(
  harness: Harness,
  url: string,
  options: Partial<OutlayOptions> = {},
  key: KeyOptions = {},
) {
  const workspace = await harness.fixtures.workspace();
  const { id, secret } = await harness.fixtures.key(workspace, key);
  const errors: { error: OutlayError; label: string | undefined }[] = [];
  const outlay = new Outlay({
    url,
    apiKey: secret,
    project: "checkout",
    flushIntervalMs: 20,
    onError: (error, request) => errors.push({ error, label: request.message?.label }),
    ...options,
  });
  onTestFinished(() => outlay.close(0));
  return { outlay, errors, workspace, keyId: id, secret };
}

/** How often each label is recorded in a workspace: label → number of messages. */
export async function recordedLabels(harness: Harness, workspace: string): Promise<Record<string, number>> {
  const { rows } = await harness.fixtures.sql.query(
    "select label, count(*)::int as count from public.messages where workspace_id = $1 and part = 0 group by label",
    [workspace],
  );
  return Object.fromEntries(rows.map(({ label, count }) => [label, count]));
}
