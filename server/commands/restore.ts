import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { restoreBackup } from "@/lib/db/embedded/restore";
import { env, postgresUrl } from "@/lib/env";

const help = `npm run restore -- FILE

Puts a backup of npm run backup into the data folder (OUTLAY_DATA_DIR), which has no database yet. Then npm start recovers it,
and npm run reconcile compares every figure with its messages.

Exits with 0 when the folder is complete, 2 otherwise.
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
  const [file] = positionals;
  if (values.help || file === undefined) {
    process.stdout.write(help);
    return values.help ? 0 : 2;
  }
  const settings = env();
  if (postgresUrl(settings)) {
    throw new Error("POSTGRES_URL is set: a backup is restored into an embedded database, where it is not.");
  }
  const dataDir = resolve(root, settings.OUTLAY_DATA_DIR);
  await restoreBackup(dataDir, resolve(callerDir, file), (message) => process.stderr.write(`${message}\n`));
  process.stdout.write(`Restored into ${dataDir}. Start the service, then run npm run reconcile.\n`);
  return 0;
}
