import { projectRoot } from "@/tests/helpers/project-root";
import { blockWith } from "./document";
import { seen, shell } from "./machine";
import { beginAt, preparePostgres, recordCent, spentAt, startOutlay } from "./outlay";
import { emptyPostgres, superuserPassword } from "./postgres";

/** "A Postgres of your own", and "Back up and restore" of it. */
export async function ownPostgres(): Promise<void> {
  const { postgres, settings } = await preparePostgres();
  const restored = await emptyPostgres();
  try {
    const outlay = await startOutlay(settings);
    seen(
      "the first start creates the schema and says where to sign up",
      outlay.program.output().includes("/sign-up"),
    );
    const rights = postgres.psql(
      "select rolsuper or rolbypassrls from pg_roles where rolname = 'outlay_service'",
    );
    seen("the service's login cannot bypass row-level security", rights.trim() === "f", rights);
    const { key } = await beginAt(outlay);
    for (let count = 0; count < 5; count += 1) await recordCent(outlay, key);
    const spent = await spentAt(outlay, key);
    seen("five costs of a cent sum to $0.05", spent === 0.05, spent);

    const dumped = { cwd: restored.folder, env: settings };
    shell(blockWith("Back up and restore", "pg_dump    --format custom --file outlay.dump --dbname"), dumped);
    await outlay.program.stop();
    const target = {
      PGHOST: "127.0.0.1",
      PGPORT: String(restored.port),
      PGUSER: "postgres",
      PGPASSWORD: superuserPassword,
    };
    const moved = Object.fromEntries(
      Object.entries(settings).map(([name, value]) => [
        name,
        value.replace(`127.0.0.1:${postgres.port}`, `127.0.0.1:${restored.port}`),
      ]),
    );
    const restore = blockWith("Back up and restore", "pg_restore --dbname outlay");
    // Its last line is run in the checkout.
    const commands = restore.split("\n").filter((line) => !line.startsWith("npm run"));
    shell(`set +o pipefail\n${commands.join("\n")}`, { cwd: restored.folder, env: target });
    shell("npm run reconcile", { cwd: projectRoot, env: moved });
    seen("npm run reconcile finds no difference in a restored dump", true);
    const again = await startOutlay(moved);
    const spentAgain = await spentAt(again, key);
    seen("the service on it reads the same sum", spentAgain === 0.05, spentAgain);
    await again.program.stop();
  } finally {
    await postgres.remove();
    await restored.remove();
  }
}
