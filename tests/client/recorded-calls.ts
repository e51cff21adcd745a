import { join } from "node:path";
import type { Harness } from "@/tests/helpers/harness";
import { installOwnPackages } from "@/tests/helpers/own-packages";
import { projectRoot } from "@/tests/helpers/project-root";

/** The providers' SDKs are a package of their own, which the service does not need. */
export const providersFolder = join(projectRoot, "tests/providers");

/** Loads a file of `tests/providers`; installs its packages first. They have other types than ours: it is `any`. */
// biome-ignore lint/suspicious/noExplicitAny: its own tsconfig.json checks the file, with its own packages.
export async function loadCalls(name: string): Promise<any> {
  await installOwnPackages(providersFolder);
  return import(/* @vite-ignore */ join(providersFolder, `${name}.ts`));
}

/** A recorded call: who, which model, and how many of each kind. */
export type RecordedCall = {
  provider: string;
  model: string;
  feature: string | null;
  lines: Record<string, number>;
};

/** The calls that are recorded in a workspace. */
export async function recordedCalls(harness: Harness, workspace: string): Promise<RecordedCall[]> {
  const { rows } = await harness.fixtures.sql.query(
    `select provider, model, feature, json_object_agg(unit_type, quantity) as lines from public.messages
     where workspace_id = $1 group by id, provider, model, feature order by id`,
    [workspace],
  );
  return rows;
}

/** How many messages of a workspace have the mark of an estimate. */
export async function countEstimated(harness: Harness, workspace: string): Promise<number> {
  const { rows } = await harness.fixtures.sql.query(
    "select count(distinct id)::integer as count from public.messages where workspace_id = $1 and 'usage:estimated' = any (tags)",
    [workspace],
  );
  return rows[0].count;
}
