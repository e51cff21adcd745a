import { once } from "node:events";
import { createWriteStream, type WriteStream } from "node:fs";
import { refusedHeader, refusedLine } from "./refused-row";
import type { Row } from "./row";

/** Writes refused rows to a file: their line, the reason and all their columns, to be corrected and imported again. */
export class RefusedFile {
  #stream: WriteStream | undefined;

  constructor(
    readonly path: string,
    private readonly columns: readonly string[],
  ) {}

  /** Writes a row. The file is created with the first refused row. */
  add(row: Partial<Row> & { line: number }, reason: string): void {
    if (!this.#stream) {
      this.#stream = createWriteStream(this.path);
      this.#stream.write(refusedHeader(this.columns));
    }
    this.#stream.write(refusedLine(this.columns, row, reason));
  }

  /** Resolves when everything is written. */
  async close(): Promise<void> {
    if (!this.#stream) return;
    this.#stream.end();
    await once(this.#stream, "close");
  }
}
