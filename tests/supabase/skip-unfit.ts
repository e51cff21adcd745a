import { beforeEach } from "vitest";
import { unfit } from "./unfit.mjs";

// A test that cannot run on a Supabase project is skipped with the reason, which the report prints.
beforeEach(({ task, skip }) => {
  const file = task.file.name;
  const reason = unfit[`${file} > ${task.name}`];
  if (reason) skip(reason);
});
