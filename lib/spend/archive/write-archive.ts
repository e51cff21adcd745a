import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { ClientBase } from "pg";
import { ZipFile } from "yazl";
import type { Membership } from "@/lib/contract/access/me";
import { csvNumber, csvRow } from "@/lib/contract/values/csv";
import { toInstant } from "@/lib/contract/values/instant";
import { fetchRows } from "@/lib/db/fetch-rows";
import type { Sql } from "@/lib/db/sql";
import { add, type Decimal, parseDecimal, zero } from "@/lib/decimal";
import { inTurn } from "@/lib/spend/exports/in-turn";
import type { LedgerSum } from "./archive-queries";
import { archivedFiles, messageColumns, messagesStatement, numericColumns } from "./files";

/** Rows fetched at a time, which bounds the memory of an archive. */
const rowsAFetch = 1_000;

/** A written file: its number of rows (lines without the header), and the size and SHA-256 of its bytes. */
type Written = { name: string; rows: number; bytes: number; sha256: string };

/**
 * Writes a workspace as a ZIP archive, file by file, from the snapshot of one transaction. `manifest.json` is last and has the
 * count of every file, the sum of the postings, and the sums that the ledger keeps of them.
 * @param client in a read-only transaction of one snapshot
 * @param now its time, milliseconds since 1970
 * @param write takes the next piece of the archive; what it throws ends the archive
 */
export async function writeArchive(
  client: ClientBase,
  {
    workspace,
    now,
    sums,
    removedBefore,
  }: { workspace: Membership; now: number; sums: LedgerSum[]; removedBefore: string | null },
  write: (piece: Uint8Array) => Promise<void>,
): Promise<void> {
  const zip = new ZipFile();
  const written: Written[] = [];
  let amount = zero;
  let postings = 0;
  let reading: Readable | undefined;

  // ZIP64, because the length of the ledger is not known beforehand.
  const options = { mtime: new Date(now), forceZip64Format: true };
  const addFile = (name: string, lines: () => AsyncGenerator<string[]>) =>
    zip.addReadStreamLazy(name, options, (ready) => {
      reading = Readable.from(counted(name, lines(), written), { objectMode: false });
      // The library does not listen for errors of the streams it reads, and an unhandled one would end the process.
      reading.on("error", (error) => zip.emit("error", error));
      ready(null, reading);
    });
  for (const { name, statement } of archivedFiles)
    addFile(name, () => linesOf(rowsOf<{ line: string }>(client, statement(workspace.id))));
  addFile("messages.ndjson", async function* () {
    for await (const rows of rowsOf<{ line: string; amount: string }>(
      client,
      messagesStatement(workspace.id, "lines"),
    )) {
      postings += rows.length;
      amount = rows.reduce((sum: Decimal, row) => add(sum, parseDecimal(row.amount)), amount);
      yield rows.map(({ line }) => `${line}\n`);
    }
  });
  addFile("messages.csv", async function* () {
    for await (const rows of rowsOf<{ cells: (string | null)[] }>(
      client,
      messagesStatement(workspace.id, "cells"),
    ))
      yield rows.map(({ cells }) => csvRow(cells.map(toCell)));
  });
  zip.addReadStreamLazy("manifest.json", options, (ready) => {
    const manifest = {
      format: "outlay-workspace-1",
      workspace: { id: workspace.id, slug: workspace.slug, name: workspace.name },
      as_of: toInstant(now),
      removed_before: removedBefore,
      messages: { postings, amount_usd: amount },
      ledger: sums,
      files: written,
    };
    ready(null, Readable.from([`${JSON.stringify(manifest, null, 2)}\n`], { objectMode: false }));
  });
  zip.end();

  const output = zip.outputStream as Readable;
  zip.on("error", (error: Error) => output.destroy(error));
  try {
    for await (const piece of output) await write(piece as Uint8Array);
  } finally {
    reading?.destroy();
  }
}

const toCell = (cell: string | null, index: number) =>
  numericColumns.has(messageColumns[index] ?? "") ? csvNumber(cell) : cell;

/** Reads rows in turn with the pages of other exports, so that recording and summaries wait behind at most one of them. */
const rowsOf = <Row extends object>(client: ClientBase, statement: Sql) =>
  fetchRows<Row>(client, statement, rowsAFetch, inTurn);

async function* linesOf(pages: AsyncIterable<{ line: string }[]>): AsyncGenerator<string[]> {
  for await (const rows of pages) yield rows.map(({ line }) => `${line}\n`);
}

/** Yields the text of a file and counts its rows. A CSV begins with a header. */
async function* counted(
  name: string,
  pages: AsyncIterable<string[]>,
  written: Written[],
): AsyncGenerator<Buffer> {
  const hash = createHash("sha256");
  const file: Written = { name, rows: 0, bytes: 0, sha256: "" };
  const encode = (text: string) => {
    const piece = Buffer.from(text, "utf8");
    hash.update(piece);
    file.bytes += piece.length;
    return piece;
  };
  if (name.endsWith(".csv")) yield encode(csvRow(messageColumns));
  for await (const lines of pages) {
    file.rows += lines.length;
    yield encode(lines.join(""));
  }
  file.sha256 = hash.digest("hex");
  written.push(file);
}
