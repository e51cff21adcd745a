import fc from "fast-check";
import { foldPastDays } from "@/tests/helpers/folds";
import type { Harness } from "@/tests/helpers/harness";
import { loadLines } from "@/tests/helpers/spend";
import { addUser } from "@/tests/helpers/team";
import { steps } from "./arbitraries";
import { exactClient } from "./client";
import { setUpWorkspace } from "./workspace";

/**
 * Makes a workspace and records twenty random sequences of messages in it.
 * @param now the time of the test, in milliseconds since 1970
 * @param seed what chooses the sequences
 * @returns the workspace, a viewer's client, and every line that is recorded
 */
export async function recordRandomSpend(harness: Harness, { now, seed }: { now: number; seed: number }) {
  const baseUrl = harness.services[0]?.baseUrl ?? "";
  const { id, clients } = await setUpWorkspace(harness.fixtures, baseUrl);
  for (const [index, sequence] of fc.sample(steps(now), { numRuns: 20, seed }).entries()) {
    // Later messages change days that are folded.
    if (index === 10) await foldPastDays(harness.fixtures);
    for (const step of sequence) {
      if ("again" in step) continue;
      // Without their idempotency keys, so that sequences do not answer for each other.
      const posts = step.posts.map(({ flaw: _, idempotency_key: __, ...post }) => post);
      await clients[step.key].bulk(posts);
    }
  }
  const { rows } = await harness.fixtures.sql.query("select slug from public.workspaces where id = $1", [id]);
  const viewer = exactClient(baseUrl, (await addUser(harness, id, "viewer")).token);
  const lines = await loadLines(harness.fixtures, id);
  return { id, slug: rows[0].slug as string, baseUrl, viewer, lines };
}
