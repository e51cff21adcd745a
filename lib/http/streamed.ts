import { z } from "zod";

/** The answer of an endpoint that is no JSON and may be long: text that is sent as it comes to be. */
export class StreamedBody {
  /**
   * @param text pieces of any length; one is asked for when the one before is on its way
   * @param fileName what a browser saves it as
   */
  constructor(
    readonly text: AsyncIterable<string>,
    readonly fileName: string,
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

/** The text as bytes. Where the reader goes away, nothing more is asked for; where the text breaks off, so does the body. */
export function encodeStream(text: AsyncIterable<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const pieces = text[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await pieces.return?.();
    },
  });
}
