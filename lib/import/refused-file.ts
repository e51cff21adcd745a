import { once } from "node:events";
import { createWriteStream, type WriteStream } from "node:fs";
import type { Row } from "./message";

/** One line of CSV. */
function csvLine(values: readonly string[]): string {
  return `${values.map((value) => (/[",;\r\n\t]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value)).join(",")}\n`;
}

/** Where refused rows go: their line, the reason and all their columns, to be mended and imported again. */
export class RefusedFile {
  #stream: WriteStream | undefined;

  constructor(
    readonly path: string,
    private readonly columns: readonly string[],
  ) {}

  /** Nothing is written, not even an empty file, until the first row is refused. */
  add({ line, values }: Partial<Row> & { line: number }, reason: string): void {
    if (!this.#stream) {
      this.#stream = createWriteStream(this.path);
      this.#stream.write(csvLine(["line", "reason", ...this.columns]));
    }
    const cells = this.columns.map((column) => values?.[column] ?? "");
    this.#stream.write(csvLine([String(line), reason, ...cells]));
  }

  /** Resolves once everything is in the file. */
  async close(): Promise<void> {
    if (!this.#stream) return;
    this.#stream.end();
    await once(this.#stream, "close");
  }
}
