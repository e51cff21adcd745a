import { z } from "zod";
import { reportFailure } from "@/lib/log";

/** The answer of an endpoint that is no JSON and may be long: text that is sent as it comes to be. */
export class StreamedBody {
  /**
   * @param text pieces of any length; one is asked for when the one before is on its way
   * @param fileName what a browser saves it as
   * @param end lets go of what the text is made of, once nobody reads on; may be called twice
   */
  constructor(
    readonly text: AsyncIterable<string>,
    readonly fileName: string,
    readonly end: () => Promise<void> = async () => {},
  ) {}
}

/** The response of an endpoint that answers a `StreamedBody`. @param mediaType as the header `Content-Type` has it */
export function streamed(mediaType: string, description: string) {
  return z.instanceof(StreamedBody).meta({ mediaType, jsonSchema: { type: "string", description } });
}

/** The media type that an endpoint's response declares; undefined where it is JSON. */
export function mediaTypeOf(response: z.ZodType): string | undefined {
  return response.meta()?.mediaType as string | undefined;
}

/** How long a reader may take over one piece, of which the buffers on the way hold some: longer, and it has stopped reading. */
const patienceMs = 30_000;

/**
 * The text as bytes. Where the reader goes away, nothing more is asked for. Where the text breaks off, and where the reader
 * takes no more of it, the body fails: the connection is cut, and what was sent cannot pass for the whole.
 */
export function encodeStream({ text, end }: StreamedBody): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const pieces = text[Symbol.asyncIterator]();
  let stalled: NodeJS.Timeout | undefined;
  const letGo = async () => {
    clearTimeout(stalled);
    await pieces.return?.();
    // A text that nobody began to read has not begun to end either.
    await end();
  };
  return new ReadableStream({
    async pull(controller) {
      clearTimeout(stalled);
      try {
        const { done, value } = await pieces.next();
        if (done) return controller.close();
        controller.enqueue(encoder.encode(value));
      } catch (error) {
        reportFailure(error, "A file broke off while it was being sent.");
        await end();
        throw error;
      }
      stalled = setTimeout(() => {
        controller.error(new Error(`The reader of a file took nothing for ${patienceMs / 1000} s.`));
        void letGo();
      }, patienceMs).unref();
    },
    cancel: letGo,
  });
}
