import { parsePart } from "@/lib/contract/values/parse-part";
import { ServiceError, validationFailed } from "@/lib/errors";
import { countParts } from "@/lib/http/json-work";
import type { StoredSource } from "@/lib/keys/api-key";
import type { DecodedItem } from "@/lib/sources/decoded";
import type { Gateway } from "./gateway";
import { readItem } from "./read-item";

/** The maximum number of items in a delivery. LiteLLM sends 100 at a time by default, and up to 512 by configuration. */
const maxItems = 1000;

/**
 * Reads a delivery in a gateway's own format: one JSON object, a list of objects, or one object in each line.
 * @throws ServiceError invalid_json, validation_failed, payload_too_large
 */
export function readDelivery(
  gateway: Gateway,
  bytes: Uint8Array,
  settings: StoredSource | null,
): DecodedItem[] {
  const items = itemsOf(textOf(bytes));
  requireFew(items);
  const place = (index: number) => (items.length === 1 ? "" : String(index));
  return items.map((value, index) => {
    const read = parsePart(gateway.item, value, place(index));
    if (!read.ok) return validationFailed(read.issues);
    try {
      return readItem(gateway, read.value, settings) ?? "no usage";
    } catch (error) {
      // An item that cannot be read does not refuse the others.
      if (error instanceof ServiceError) return error;
      throw error;
    }
  });
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes).trim();
  } catch {
    throw new ServiceError("invalid_json", "The body is not UTF-8 text. Send JSON.");
  }
}

/** The size limits of a delivery. Most of it is prompts and answers, which are not read, but every item is validated as a whole. */
const jsonBudget = { parts: 500_000, partsOfOne: 50_000, depth: 500 };

function itemsOf(text: string): unknown[] {
  if (text === "") return [];
  countParts(text, jsonBudget);
  try {
    const whole: unknown = JSON.parse(text);
    return Array.isArray(whole) ? whole : [whole];
  } catch {
    // LiteLLM sends newlines between items with the content type of JSON.
    const lines = text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line]));
    requireFew(lines);
    return lines.map((line, index) => {
      try {
        return JSON.parse(line);
      } catch {
        // The parser's own message may quote the content, which can be a prompt.
        const where = lines.length === 1 ? "The body" : `Line ${index + 1} of the body`;
        throw new ServiceError(
          "invalid_json",
          `${where} is not valid JSON. Send an object, a list, or an object a line.`,
        );
      }
    });
  }
}

/** @throws ServiceError validation_failed */
function requireFew({ length }: unknown[]): void {
  if (length > maxItems)
    throw validationFailed([{ path: "body", message: `must have at most ${maxItems} calls` }]);
}
