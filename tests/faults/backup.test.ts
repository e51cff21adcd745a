import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeBackup } from "@/lib/db/embedded/backup";
import { restoreBackup } from "@/lib/db/embedded/restore";
import { startEmbeddedPostgres } from "@/lib/db/embedded/server";
import { makeDataDir } from "@/tests/helpers/cluster";
import { startEmbeddedService } from "@/tests/helpers/embedded-service";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { Fixtures } from "@/tests/helpers/keys";
import { Load } from "@/tests/helpers/load";

test("A backup that is taken while the service records has all that was answered before, and every figure agrees", async () => {
  const embedded = await startEmbeddedService();
  const folder = makeDataDir();
  const restored = join(folder, "restored");
  const file = join(folder, "backup.zip");
  try {
    const { secret } = await embedded.fixtures.key(await embedded.fixtures.workspace());
    const load = new Load({ clients: 8, secret, baseUrl: () => embedded.service.baseUrl, retry: "never" });
    await load.storesMore(100);
    const answered = load.stored.map(({ answer }) => answer.body.id);
    expect(answered.length).toBeGreaterThanOrEqual(100);
    await writeBackup(embedded.dataDir, file);
    await load.storesMore(1);
    await load.stop();
    expect(statSync(file).mode & 0o077).toBe(0);

    await restoreBackup(restored, file, () => {});
    await expect(restoreBackup(restored, file, () => {})).rejects.toThrow("has a database already");
    const server = await startEmbeddedPostgres({ dataDir: restored, log: () => {} });
    const copy = new Fixtures(server.adminUrl);
    try {
      const { rows } = await copy.sql.query("select count(*)::int from public.messages where id = any($1)", [
        answered,
      ]);
      expect(rows).toEqual([{ count: answered.length }]);
      expect(await ledgerDifferences(copy)).toEqual([]);
    } finally {
      await copy.close();
      await server.stop();
    }
  } finally {
    await embedded.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}, 240_000);
