import { once } from "node:events";
import { createWriteStream, type WriteStream } from "node:fs";
import { refusedHeader, refusedLine } from "./refused-row";
import type { Row } from "./row";

/** Where refused rows go: their line, the reason and all their columns, to be mended and imported again. */
export class RefusedFile {
  #stream: WriteStream | undefined;

  constructor(
    readonly path: string,
    private readonly columns: readonly string[],
  ) {}

  /** Nothing is written, not even an empty file, until the first row is refused. */
  add(row: Partial<Row> & { line: number }, reason: string): void {
    if (!this.#stream) {
      this.#stream = createWriteStream(this.path);
      this.#stream.write(refusedHeader(this.columns));
    }
    this.#stream.write(refusedLine(this.columns, row, reason));
  }

  /** Resolves once everything is in the file. */
  async close(): Promise<void> {
    if (!this.#stream) return;
    this.#stream.end();
    await once(this.#stream, "close");
  }
}
