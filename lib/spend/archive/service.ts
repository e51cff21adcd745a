import { requireMembership } from "@/lib/access/workspaces/membership";
import { dayOf } from "@/lib/contract/values/instant";
import { deadlines } from "@/lib/db/deadlines";
import { asUserReading, callAsService, type UserClaims } from "@/lib/db/transaction";
import { overloaded } from "@/lib/errors";
import { reportFailure } from "@/lib/log";
import { RunningExport } from "@/lib/spend/exports/running-export";
import { removedWithin } from "@/lib/spend/removed-messages";
import { selectLedgerSums } from "./archive-queries";
import { Spool } from "./spool";
import { writeArchive } from "./write-archive";

/** Archives that this process writes at a time: each holds a connection for reading. */
const maxWriting = 2;
let writing = 0;

/** An archive that is being written. `end` stops it at any point and frees what it holds. */
export type Archive = { fileName: string; bytes: AsyncIterable<Uint8Array>; end: () => Promise<void> };

/**
 * Exports a whole workspace as a ZIP archive, for admins: see `write-archive.ts`. The rows are read in one snapshot at the speed of
 * the database, and a temporary file holds what a slow reader has not taken yet. If the archive cannot be completed, `bytes` throws,
 * and the archive lacks its directory and its manifest.
 * @throws ServiceError not_found, permission_denied, export_in_progress, unavailable while too many others are being written; all
 *   before the first piece
 */
export async function exportWorkspace(claims: UserClaims, slug: string): Promise<Archive> {
  const { id, address } = await demandAdmin(claims, slug);
  const running = await RunningExport.begin(claims.sub);
  try {
    if (writing >= maxWriting) throw overloaded();
    const spool = await Spool.open();
    await callAsService("private.write_audit", entryOf(claims, id, address));
    const stop = new AbortController();
    void fill(spool, claims, slug, running, stop.signal);
    return {
      fileName: `${slug}-${dayOf(Date.now())}.zip`,
      bytes: spool.read(),
      end: async () => {
        stop.abort(new Error("The reader of an archive is gone."));
        await spool.close();
      },
    };
  } catch (error) {
    await running.end();
    throw error;
  }
}

/** Whether an archive could begin now. @throws ServiceError as `exportWorkspace` */
export async function probeArchive(claims: UserClaims, slug: string): Promise<void> {
  await demandAdmin(claims, slug);
  await RunningExport.demandNone(claims.sub);
}

async function demandAdmin(claims: UserClaims, slug: string) {
  const { id } = await asUserReading(claims, (client) => requireMembership(client, claims, slug, "admin"));
  return { id, address: claims.caller_address ?? null };
}

function entryOf({ sub, email }: UserClaims, workspaceId: string, address: string | null): string {
  return JSON.stringify({
    workspace_id: workspaceId,
    actor_id: sub,
    actor_email: email,
    action: "workspace.exported",
    subject: `workspace ${workspaceId}`,
    address,
  });
}

/** Writes the archive into the spool. Never throws: errors go to the reader. */
async function fill(
  spool: Spool,
  claims: UserClaims,
  slug: string,
  running: RunningExport,
  signal: AbortSignal,
): Promise<void> {
  writing += 1;
  try {
    await asUserReading(
      claims,
      async (client, now) => {
        const workspace = await requireMembership(client, claims, slug, "admin");
        const sums = await selectLedgerSums(client, workspace.id);
        const removed = await removedWithin(client, workspace.id, { from: "0001-01-01" });
        await writeArchive(client, { workspace, now, sums, removedBefore: removed }, async (piece) => {
          signal.throwIfAborted();
          await running.goOn();
          await spool.write(piece);
        });
      },
      deadlines.archive,
    );
    spool.end();
  } catch (error) {
    if (!signal.aborted) reportFailure(error, "The archive of a workspace could not be written to its end.");
    spool.end(error);
  } finally {
    writing -= 1;
    await running.end();
  }
}
