import type { AudioContent, EmbeddedResource, ImageContent } from "@modelcontextprotocol/server";

/** A PNG of one red pixel. */
export const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

export const image: ImageContent = { type: "image", data: png, mimeType: "image/png" };

/** A WAV file without a sample. */
export const sound: AudioContent = {
  type: "audio",
  data: "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=",
  mimeType: "audio/wav",
};

/** A text resource within another message. */
export function embedded(uri: string, mimeType: string, text: string): EmbeddedResource {
  return { type: "resource", resource: { uri, mimeType, text } };
}
