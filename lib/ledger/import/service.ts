import type { Mapping } from "./fields";
import { type ImportedMessage, RowError, toMessage } from "./message";
import type { MessageVerdict, Poster } from "./poster";
import { FileError, type FileRow, type ReadRow } from "./row";

export type ImportOptions = {
  /** The rows of the file, in order. */
  rows: AsyncIterable<ReadRow> | Iterable<ReadRow>;
  /** The SHA-256 of the file's content, in hex, without the file's name. */
  fileHash: string;
  mapping: Mapping;
  /** The column with the client's own id of each row. Without it the file's hash and the line identify a row. */
  idColumn?: string;
  poster: Pick<Poster, "post">;
  /** Whether to check the rows without recording them. */
  dryRun: boolean;
  onProgress?: (summary: Summary, line: number) => void;
  /** Called with each refused row. */
  onRefused?: (row: Partial<FileRow> & { line: number }, reason: string) => void;
};

/** The rows that were refused for the same reason. `lines`: of the first five. */
export type Reason = { reason: string; count: number; lines: number[] };

export type Summary = {
  rows: number;
  /** Rows that were recorded now; in a dry run, rows that would be recorded. */
  recorded: number;
  /** Rows that were recorded by an earlier run. */
  replayed: number;
  refused: number;
  /** Of the recorded rows, those of closed months, which are booked now as adjustments. */
  adjusting: number;
  /** Most frequent first. */
  reasons: Reason[];
};

/** The most messages and bytes of one call. The service's limit is 8 MiB. */
const maxMessages = 1_000;
const maxBytes = 6 * 1024 * 1024;
/** An upper estimate of what JSON adds to the text of a row. */
const overheadBytes = 400;

const exampleLines = 5;
const maxReasons = 1_000;

/**
 * Posts the rows of a file in order, in chunks, so that the file is never in memory as a whole. An interrupted import can be repeated:
 * a row always has the same idempotency key and is recorded once.
 * @throws PostError if the service refuses the whole call, or cannot be reached
 */
export async function importRows(options: ImportOptions): Promise<Summary> {
  const tally = new Tally(options);
  let chunk: { row: FileRow; message: ImportedMessage }[] = [];
  let bytes = 0;
  let posting: Promise<void> | undefined;
  const faulty = new FaultyRows(options.poster, tally);
  const post = async (sent: typeof chunk) => {
    const verdicts = await options.poster.post(
      sent.map(({ message }) => message),
      options.dryRun,
    );
    for (const [index, { row }] of sent.entries()) tally.add(row, verdicts[index] ?? { status: 500 });
    options.onProgress?.(tally.summary(), sent.at(-1)?.row.line ?? 0);
  };
  // Reads the next rows while the service records the previous ones. Only one call runs at a time, so that rows stay in order.
  const flush = async () => {
    await posting;
    posting = chunk.length > 0 ? post(chunk) : undefined;
    posting?.catch(() => {});
    [chunk, bytes] = [[], 0];
  };
  for await (const row of options.rows) {
    if (row instanceof FileError) {
      tally.refuse({ line: row.line }, row.message);
      continue;
    }
    try {
      const message = toMessage(row, options.mapping, keyOf(row, options));
      chunk.push({ row, message });
      // A character has at most four bytes.
      bytes += overheadBytes + 4 * Object.values(row.values).reduce((sum, value) => sum + value.length, 0);
    } catch (error) {
      if (!(error instanceof RowError)) throw error;
      await faulty.add(row, error);
    }
    if (chunk.length >= maxMessages || bytes >= maxBytes) await flush();
  }
  await flush();
  await posting;
  await faulty.flush();
  return tally.summary();
}

/** The idempotency key of a row. It contains the line, because two equal rows of a file are two costs. */
function keyOf(row: FileRow, { idColumn, fileHash }: ImportOptions): string {
  if (idColumn === undefined) return `import:${fileHash.slice(0, 32)}:${row.line}`;
  const id = row.values[idColumn]?.trim();
  if (!id) throw new RowError([{ field: idColumn, reason: "the row has no id" }]);
  return id;
}

/**
 * Rows that cannot be converted to messages. Posts them to the service as a dry run, which never records, so that the refusal of a row
 * lists all of its problems at once.
 */
class FaultyRows {
  #waiting: { row: FileRow; error: RowError }[] = [];

  constructor(
    private readonly poster: ImportOptions["poster"],
    private readonly tally: Tally,
  ) {}

  async add(row: FileRow, error: RowError): Promise<void> {
    this.#waiting.push({ row, error });
    if (this.#waiting.length >= maxMessages) await this.flush();
  }

  async flush(): Promise<void> {
    const rows = this.#waiting;
    this.#waiting = [];
    const asked = rows.flatMap(({ error }) => error.rest ?? []);
    const verdicts = asked.length > 0 ? await this.poster.post(asked, true) : [];
    for (const { row, error } of rows) {
      const { issues = [] } = (error.rest && verdicts.shift()) ?? {};
      const known = new Set(error.issues.map(({ field }) => field));
      const others = issues
        .map(({ path, message }) => ({ field: path.replace(/^message\./, ""), reason: message }))
        .filter(({ field }) => !known.has(field));
      this.tally.refuse(row, new RowError([...error.issues, ...others]).message);
    }
  }
}

/** Counts the outcomes of rows. */
class Tally {
  #rows = 0;
  #recorded = 0;
  #replayed = 0;
  #refused = 0;
  #adjusting = 0;
  readonly #reasons = new Map<string, Reason>();

  constructor(private readonly options: Pick<ImportOptions, "onRefused">) {}

  add(row: FileRow, verdict: MessageVerdict): void {
    if (verdict.status !== 201) {
      this.refuse(row, reasonOf(verdict));
      return;
    }
    this.#rows += 1;
    if (verdict.replayed) this.#replayed += 1;
    else this.#recorded += 1;
    if (!verdict.replayed && verdict.adjusts !== undefined) this.#adjusting += 1;
  }

  refuse(row: Partial<FileRow> & { line: number }, reason: string): void {
    this.#rows += 1;
    this.#refused += 1;
    this.options.onRefused?.(row, reason);
    const name = this.#reasons.size < maxReasons || this.#reasons.has(reason) ? reason : "other reasons";
    const known = this.#reasons.get(name) ?? { reason: name, count: 0, lines: [] };
    known.count += 1;
    if (known.lines.length < exampleLines) known.lines.push(row.line);
    this.#reasons.set(name, known);
  }

  summary(): Summary {
    return {
      rows: this.#rows,
      recorded: this.#recorded,
      replayed: this.#replayed,
      refused: this.#refused,
      adjusting: this.#adjusting,
      reasons: [...this.#reasons.values()].sort((a, b) => b.count - a.count),
    };
  }
}

/** The reason for a refusal, worded the same for every row with that reason. */
function reasonOf({ error, error_description, issues, differing_fields: differing }: MessageVerdict): string {
  if (issues)
    return issues.map(({ path, message }) => `${path.replace(/^message\./, "")}: ${message}`).join("; ");
  if (error === "idempotency_conflict") {
    return `idempotency_conflict: recorded before with another ${(differing ?? []).join(", ")}`;
  }
  if (error === "monthly_limit_exceeded") return "monthly_limit_exceeded: past the monthly limit of the key";
  if (error === "budget_exceeded") return "budget_exceeded: past a budget that blocks";
  return `${error}: ${error_description}`;
}
