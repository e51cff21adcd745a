import { Worker } from "node:worker_threads";
import { overloaded, ServiceError } from "@/lib/errors";
import { largeBytes } from "@/lib/http/turns";
import { reportFailure } from "@/lib/log";
import type { Decoded } from "@/lib/sources/decoded";
import { decodeBody, type Form } from "./decode";
import { pack, packError, type Sent, unpack, unpackError } from "./transfer";

/** A body to decode, and the answer of the thread. */
export type Job = { form: Form; bytes: Uint8Array };
export type Done = { sent: Sent } | { error: ReturnType<typeof packError> };

/** How long decoding a body may take. An export that uses its whole budget takes about a second. */
const limitMs = 20_000;

/** The memory that decoding a body may use, in MB. */
const memory = { maxOldGenerationSizeMb: 512 };

let program: URL | undefined;
let worker: Worker | undefined;
let last: Promise<unknown> = Promise.resolve();

/** Makes `decode` use a thread for large bodies. @param file the bundle of `server/decoder.ts` */
export function decodeInThread(file: URL): void {
  program = file;
}

/**
 * Decodes a body. Large bodies are decoded by a thread, one after another, so that the event loop answers other requests meanwhile.
 * Without a thread (on a platform that runs functions) they are decoded on the main thread.
 * @throws ServiceError as `decodeBody`; payload_too_large if decoding needs too much memory; unavailable if it takes too long, which on a
 *   busy machine can happen to any body
 */
export async function decode(form: Form, bytes: Uint8Array): Promise<Decoded> {
  if (bytes.byteLength <= largeBytes || !program) return decodeBody(form, bytes);
  const turn = last.then(() => decodeElsewhere({ form, bytes }));
  last = turn.catch(() => {});
  const done = await turn;
  if ("error" in done) throw unpackError(done.error);
  return unpack(done.sent);
}

function decodeElsewhere(job: Job): Promise<Done> {
  worker ??= start();
  const thread = worker;
  return new Promise((resolve, reject) => {
    const fail = (error: Error, refusal: ServiceError) => {
      settle();
      // The thread may be in any state, so the next body gets a new one.
      worker = undefined;
      void thread.terminate();
      reportFailure(error, "A body could not be decoded.");
      reject(refusal);
    };
    const onError = (error: Error) =>
      fail(
        error,
        new ServiceError("payload_too_large", "The body needs too much memory to decode. Send less at once."),
      );
    const tooLate = setTimeout(
      () => fail(new Error(`Decoding took more than ${limitMs / 1000} s.`), overloaded()),
      limitMs,
    );
    const onEnd = () => fail(new Error("The thread that decodes bodies ended."), overloaded());
    const onDone = (done: Done) => {
      settle();
      resolve(done);
    };
    const settle = () => {
      clearTimeout(tooLate);
      thread.off("error", onError).off("exit", onEnd).off("message", onDone);
    };
    thread.on("error", onError).on("exit", onEnd).on("message", onDone);
    // Transfers the body instead of copying it. It is not used here any more.
    thread.postMessage(job, [job.bytes.buffer as ArrayBuffer]);
  });
}

function start(): Worker {
  const thread = new Worker(program as URL, { resourceLimits: memory });
  thread.unref();
  // An error between two bodies must not end the process; the next body starts another thread.
  thread.on("error", () => {});
  thread.on("exit", () => {
    if (worker === thread) worker = undefined;
  });
  return thread;
}

/** Decodes a body in the thread, and makes its answer. */
export function answerJob({ form, bytes }: Job): Done {
  try {
    return { sent: pack(decodeBody(form, bytes)) };
  } catch (error) {
    if (error instanceof ServiceError) return { error: packError(error) };
    throw error;
  }
}
