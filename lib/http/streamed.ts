import { z } from "zod";
import { reportFailure } from "@/lib/log";

/** A long response that is not JSON: text that is sent while it is produced. */
export class StreamedBody {
  /**
   * @param text pieces of any length; the next is requested when the last one was sent
   * @param fileName the name under which a browser saves it
   * @param end frees what produces the text once nobody reads on; may be called twice
   */
  constructor(
    readonly text: AsyncIterable<string>,
    readonly fileName: string,
    readonly end: () => Promise<void> = async () => {},
  ) {}
}

/** The response schema of an endpoint that answers a `StreamedBody`. @param mediaType the header `Content-Type` */
export function streamed(mediaType: string, description: string) {
  return z.instanceof(StreamedBody).meta({ mediaType, jsonSchema: { type: "string", description } });
}

/** The media type that an endpoint's response declares; undefined for JSON. */
export function mediaTypeOf(response: z.ZodType): string | undefined {
  return response.meta()?.mediaType as string | undefined;
}

/** How long a reader may take for one piece, beyond what buffers hold, before it counts as gone. */
const patienceMs = 30_000;

/**
 * The text as bytes. When the reader goes away, no more is requested. When the text fails, or the reader takes no
 * more, the body fails: the connection is cut, so that a partial text cannot pass for the whole.
 */
export function encodeStream({ text, end }: StreamedBody): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const pieces = text[Symbol.asyncIterator]();
  let stalled: NodeJS.Timeout | undefined;
  const letGo = async () => {
    clearTimeout(stalled);
    await pieces.return?.();
    // A text that nobody began to read does not run its own clean-up.
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
