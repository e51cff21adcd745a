import { z } from "zod";
import { reportFailure } from "@/lib/log";

/** A long response, text or bytes, that is sent while it is produced. */
export class StreamedBody {
  /**
   * @param text pieces of any length; the next piece is requested when the last one was sent
   * @param fileName the file name that browsers save it under
   * @param end frees the source of the text after the last piece, or when the reader disconnects; may be called twice
   * @param headers more headers of the response
   */
  constructor(
    readonly text: AsyncIterable<string | Uint8Array>,
    readonly fileName: string,
    readonly end: () => Promise<void> = async () => {},
    readonly headers: Record<string, string> = {},
  ) {}
}

/** The response schema of an endpoint that answers with a `StreamedBody`. @param mediaType its `Content-Type` */
export function streamed(mediaType: string, description: string) {
  return z.instanceof(StreamedBody).meta({ mediaType, jsonSchema: { type: "string", description } });
}

/** The media type that an endpoint's response declares; undefined for JSON. */
export function mediaTypeOf(response: z.ZodType): string | undefined {
  return response.meta()?.mediaType as string | undefined;
}

/** How long a reader may take for one piece, beyond what buffers hold, before the response is aborted. */
const stallLimitMs = 30_000;

/**
 * Encodes a text as a stream of bytes. When the reader disconnects, no more text is requested. When the text fails or
 * the reader stalls, the stream fails and the connection is closed, so that a partial text cannot pass for the whole.
 */
export function encodeStream({ text, end }: StreamedBody): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const pieces = text[Symbol.asyncIterator]();
  let stalled: NodeJS.Timeout | undefined;
  const release = async () => {
    clearTimeout(stalled);
    await pieces.return?.();
    // A generator whose first piece was never requested does not run its own `finally`.
    await end();
  };
  return new ReadableStream({
    async pull(controller) {
      clearTimeout(stalled);
      try {
        const { done, value } = await pieces.next();
        if (done) return controller.close();
        controller.enqueue(typeof value === "string" ? encoder.encode(value) : value);
      } catch (error) {
        reportFailure(error, "A file could not be sent to its end.");
        await end();
        throw error;
      }
      stalled = setTimeout(() => {
        controller.error(new Error(`The caller read nothing of a file for ${stallLimitMs / 1000} s.`));
        void release();
      }, stallLimitMs).unref();
    },
    cancel: release,
  });
}
