import { randomUUID } from "node:crypto";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const pieceBytes = 256 * 1024;

/**
 * Buffers bytes in a temporary file, so that the writer never waits for a slower reader. The file is unlinked when it is opened,
 * so it disappears with the process even after a crash.
 */
export class Spool {
  #written = 0;
  #ended = false;
  #failure: unknown;
  #wake: (() => void) | undefined;

  private constructor(private readonly file: FileHandle) {}

  static async open(): Promise<Spool> {
    const path = join(tmpdir(), `outlay-${randomUUID()}`);
    const file = await open(path, "wx+", 0o600);
    await unlink(path);
    return new Spool(file);
  }

  async write(piece: Uint8Array): Promise<void> {
    for (let at = 0; at < piece.length; ) {
      const { bytesWritten } = await this.file.write(piece, at, piece.length - at, this.#written);
      at += bytesWritten;
      this.#written += bytesWritten;
    }
    this.#wake?.();
  }

  /** Ends the bytes. @param failure the error that the reader throws */
  end(failure?: unknown): void {
    this.#ended = true;
    this.#failure = failure;
    this.#wake?.();
  }

  /** Yields the bytes in order. May be read once. @throws the error that `end` was given */
  async *read(): AsyncGenerator<Uint8Array> {
    try {
      for (let at = 0; ; ) {
        if (this.#failure !== undefined) throw this.#failure;
        if (at < this.#written) {
          const piece = new Uint8Array(Math.min(pieceBytes, this.#written - at));
          const { bytesRead } = await this.file.read(piece, 0, piece.length, at);
          at += bytesRead;
          yield piece.subarray(0, bytesRead);
        } else if (this.#ended) return;
        else
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
      }
    } finally {
      await this.close();
    }
  }

  /** Frees the file. May be called twice. */
  async close(): Promise<void> {
    await this.file.close().catch(() => {});
  }
}
