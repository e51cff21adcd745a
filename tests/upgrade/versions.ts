import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "@/tests/helpers/project-root";

/** A commit of the main branch with migrations that no commit before it had in this form. */
export type Version = { commit: string; date: string; files: number };

/** Commits whose migrations were edited before they were released: docs/deploy.md, "Upgrade". */
const unreleased = [
  "343f550",
  "b947713",
  "7bc7d4c",
  "a260f05",
  "f2612b9",
  "28ea67f",
  "ec4f035",
  "f410369",
  "642f2e7",
  "e5e2484",
  "9841600",
  "08d0020",
  "38226cf",
  "f1fffa6",
  "ae67234",
  "9dfceb4",
  "b8096cb",
  "a32c638",
  "97bb1cc",
  "6313dd5",
  "bf8e85c",
  "94e4cfc",
  "fa039d9",
  "58eac65",
  "3251c78",
  "de90b4c",
  "8d5ee3c",
];

const git = (...args: string[]) =>
  execFileSync("git", args, { cwd: projectRoot, encoding: "utf8", maxBuffer: 2 ** 28 }).trim();

/**
 * The versions of the main branch with other migrations than the present one, the earliest first.
 * @param only beginnings of commits; none for all versions. Any commit can be named, also one that changed no migration
 */
export function versionsOf(only: string[]): Version[] {
  const listed = only.length > 0 ? only.map((commit) => git("rev-parse", commit)) : firstParents();
  const seen = new Set<string>(only.length > 0 ? [] : [git("ls-tree", "HEAD", "supabase/migrations/")]);
  return listed.flatMap((commit) => {
    const files = git("ls-tree", commit, "supabase/migrations/");
    if (files === "" || seen.has(files)) return [];
    seen.add(files);
    return [{ commit, date: git("log", "-1", "--format=%cs", commit), files: files.split("\n").length }];
  });
}

function firstParents(): string[] {
  const commits = git("log", "--first-parent", "--reverse", "--format=%H", "--", "supabase/migrations");
  return commits.split("\n").filter((commit) => !unreleased.some((start) => commit.startsWith(start)));
}

/** Writes the files of a commit into a folder of its own, with the packages of the present one. @returns the folder */
export function checkOut(commit: string, parent: string): string {
  const folder = join(parent, commit);
  mkdirSync(folder, { recursive: true });
  execFileSync("sh", ["-c", `git archive ${commit} | tar --extract --directory "$0"`, folder], {
    cwd: projectRoot,
  });
  symlinkSync(join(projectRoot, "node_modules"), join(folder, "node_modules"));
  // Some versions keep the table of routes out of the repository.
  const generate = join(folder, "scripts/generate-routes.mjs");
  if (existsSync(generate)) execFileSync(process.execPath, [generate], { cwd: folder, stdio: "ignore" });
  return folder;
}
