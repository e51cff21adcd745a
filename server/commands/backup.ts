import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { writeBackup } from "@/lib/db/embedded/backup";
import { env, postgresUrl } from "@/lib/env";
import { attachDatabase } from "@/server/attach";

const help = `npm run backup -- [FILE]

Writes the embedded database with its secrets into FILE (outlay-<time>.zip), while the service runs or not. Keep the file safe:
whoever has it can sign in as anybody. npm run restore -- FILE puts it into an empty data folder.

Exits with 0 when the file is complete, 2 otherwise.
`;

/** The folder of the repository: this file's bundle is in `dist/`. */
const root = fileURLToPath(new URL("..", import.meta.url));

/** Runs the command. @param callerDir the folder to which FILE is relative. @returns its exit status */
export async function main(args: string[], callerDir: string): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { help: { type: "boolean", short: "h", default: false } },
  });
  if (values.help) {
    process.stdout.write(help);
    return 0;
  }
  const settings = env();
  if (postgresUrl(settings)) {
    throw new Error(
      "POSTGRES_URL names a Postgres of your own: back it up with pg_dump, of its version or a newer one (docs/deploy.md).",
    );
  }
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, "");
  const file = resolve(callerDir, positionals[0] ?? `outlay-${time}.zip`);
  if (existsSync(file)) throw new Error(`${file} exists already.`);
  const close = await attachDatabase(settings, root);
  try {
    await writeBackup(resolve(root, settings.OUTLAY_DATA_DIR), file);
  } finally {
    await close();
  }
  process.stdout.write(`${file}: ${(statSync(file).size / 2 ** 20).toFixed(1)} MiB\n`);
  return 0;
}
