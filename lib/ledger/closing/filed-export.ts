import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import type { ClientBase } from "pg";
import { type CsvCell, csvNumber, csvRow } from "@/lib/contract/values/csv";
import { deadlines } from "@/lib/db/deadlines";
import { fetchRows } from "@/lib/db/fetch-rows";
import { sql } from "@/lib/db/sql";
import { asService } from "@/lib/db/transaction";
import { finishFiling, lockUnfiledMonth, storeFiledPart } from "./closing-queries";

/** Rows fetched at a time, and the least size of a stored part of the compressed export, in bytes. */
const rowsAFetch = 2_000;
const bytesAPart = 512 * 1024;

/** A row of `private.figures_to_file`. Every column but `tags` is text. */
type FiguresRow = Record<string, string | null> & { tags: string[] | null };

const numbers = new Set([
  "amount_usd",
  "adjustments_usd",
  "message_count",
  "line_count",
  "unpriced_count",
  "included_usd",
]);

/** The columns of a filed export, in order. */
const filedColumns = [
  ...[
    "day",
    "project",
    "project_name",
    "type",
    "provider",
    "model",
    "feature",
    "key_id",
    "key_name",
    "source",
    "tags",
  ],
  ...numbers,
];

/**
 * Writes the missing exports of closed months, each in one transaction. The figures of a closed month no longer change, so an export
 * can be written at any time; a job writes those that a killed process left out.
 * @param workspaceId only those of one workspace
 * @returns how many were written
 */
export async function fileClosedMonths(workspaceId: string | null = null): Promise<number> {
  for (let filed = 0; ; filed += 1) {
    const isDone = await asService(async (client) => {
      const closing = await lockUnfiledMonth(client, workspaceId);
      if (!closing) return true;
      const { workspace_id, month } = closing;
      const hash = createHash("sha256");
      let bytes = 0;
      const lines = async function* () {
        for await (const text of csvOf(client, workspace_id, month)) {
          const piece = Buffer.from(text, "utf8");
          hash.update(piece);
          bytes += piece.length;
          yield piece;
        }
      };
      let part = 0;
      let waiting: Buffer[] = [];
      let size = 0;
      const store = async () => {
        await storeFiledPart(client, closing, part, Buffer.concat(waiting));
        part += 1;
        [waiting, size] = [[], 0];
      };
      await pipeline(lines, createGzip(), async (pieces: AsyncIterable<Buffer>) => {
        for await (const piece of pieces) {
          waiting.push(piece);
          size += piece.length;
          if (size >= bytesAPart) await store();
        }
      });
      await store();
      await finishFiling(client, closing, hash.digest("hex"), bytes);
      return false;
    }, deadlines.archive);
    if (isDone) return filed;
  }
}

async function* csvOf(client: ClientBase, workspaceId: string, month: string): AsyncGenerator<string> {
  yield csvRow(filedColumns);
  const statement = sql`select to_jsonb(f) || jsonb_build_object('amount_usd', f.amount_usd::text,
      'adjustments_usd', f.adjustments_usd::text, 'included_usd', f.included_usd::text) as figures
    from private.figures_to_file(${workspaceId}, ${month}) as f`;
  for await (const rows of fetchRows<{ figures: FiguresRow }>(client, statement, rowsAFetch)) {
    yield rows.map(({ figures }) => csvRow(filedColumns.map((name) => cellOf(figures, name)))).join("");
  }
}

function cellOf(figures: FiguresRow, name: string): CsvCell {
  if (name === "tags") return (figures.tags ?? []).join("; ") || null;
  const value = figures[name] ?? null;
  return numbers.has(name) ? csvNumber(value === null ? null : String(value)) : value;
}

/** Decompresses a filed export into the bytes that its SHA-256 covers. @param readPart reads a stored gzip part; null after the last */
export async function* readFiledExport(
  readPart: (part: number) => Promise<Buffer | null>,
): AsyncGenerator<Uint8Array> {
  const parts = async function* () {
    for (let part = 0; ; part += 1) {
      const content = await readPart(part);
      if (content === null) return;
      yield content;
    }
  };
  const source = Readable.from(parts(), { objectMode: false });
  const text = createGunzip();
  source.on("error", (error) => text.destroy(error));
  try {
    for await (const piece of source.pipe(text)) yield piece;
  } finally {
    source.destroy();
  }
}
