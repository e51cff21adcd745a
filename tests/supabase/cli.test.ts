import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { promisify } from "node:util";
import { expect, inject, test } from "vitest";
import { migrate } from "@/lib/db/migrate";
import { copyTemplate } from "@/tests/helpers/cluster";
import { projectRoot } from "@/tests/helpers/project-root";
import { unmigrated } from "./cluster";

const execute = promisify(execFile);

test("The Supabase CLI makes the schema beside Supabase Auth's tables, and agrees with us on what has been applied", async () => {
  const { hosted: _, ...cluster } = inject("cluster");
  const database = await copyTemplate(cluster, unmigrated);
  const recorded = readdirSync(`${projectRoot}supabase/migrations`).map((file) => file.slice(0, 14));
  const cli = async (...args: string[]) => {
    const command = ["--yes", "supabase@3.1.0", ...args, `--remote=${database.adminUrl}`, "--yes"];
    const { stdout, stderr } = await execute("npx", command, { cwd: projectRoot });
    return stdout + stderr;
  };
  try {
    await cli("db", "push");
    expect(await migrate(database.adminUrl, `${projectRoot}supabase/migrations`)).toEqual([]);
    expect(await cli("db", "push")).toMatch(/up to date/i);
    const listed = await cli("migration", "list");
    for (const version of recorded) expect(listed).toContain(version);
  } finally {
    await database.drop();
  }
});
