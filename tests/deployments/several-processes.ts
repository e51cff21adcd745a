import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "@/tests/helpers/free-port";
import { projectRoot } from "@/tests/helpers/project-root";
import { blockWith } from "./document";
import { asUser, seen, shell, start } from "./machine";
import { beginAt, preparePostgres, recordCent, spentAt, startOutlay } from "./outlay";

const messages = 400;

/** "Several processes": two of them behind PgBouncer in transaction mode. */
export async function severalProcesses(): Promise<void> {
  const { postgres, settings } = await preparePostgres();
  try {
    const port = await freePort();
    const users = join(postgres.folder, "users.txt");
    const password = new URL(settings.POSTGRES_URL ?? "").password;
    writeFileSync(users, `"outlay_service" "${password}"\n`);
    const configuration = join(postgres.folder, "pgbouncer.ini");
    writeFileSync(
      configuration,
      blockWith("Several processes", "[pgbouncer]", [
        ["port=5432", `port=${postgres.port}`],
        ["6432", String(port)],
        ["/etc/pgbouncer/users.txt", users],
      ]),
    );
    start(asUser("postgres", {}, `pgbouncer ${configuration}`), join(postgres.folder, "pgbouncer.log"));
    const pooled = settings.POSTGRES_URL?.replace(`:${postgres.port}/`, `:${port}/`) ?? "";
    shell(`until PGCONNECT_TIMEOUT=2 psql -X ${pooled} -c 'select 1' >/dev/null 2>&1; do sleep 0.2; done`);
    const both = { ...settings, POSTGRES_URL: pooled };
    const [one, other] = [await startOutlay(both), await startOutlay(both)];
    const { key } = await beginAt(one);
    const clients = Array.from({ length: 16 }, async (_, client) => {
      for (let count = client; count < messages; count += 16) await recordCent(count % 2 ? one : other, key);
    });
    await Promise.all(clients);
    const sums = [await spentAt(one, key), await spentAt(other, key)];
    seen(
      `${messages} costs of a cent through two processes sum to $${messages / 100} on both`,
      sums.every((sum) => sum === messages / 100),
      sums,
    );
    await Promise.all([one.program.stop(), other.program.stop()]);
    shell("npm run reconcile", { cwd: projectRoot, env: both });
    seen("npm run reconcile finds no difference", true);
  } finally {
    await postgres.remove();
  }
}
