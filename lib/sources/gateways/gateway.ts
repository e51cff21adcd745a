import type { z } from "zod";
import type { Emitter } from "@/lib/sources/emitters/emitter";

/** A parsed item of a delivery: the gateway's report of one call. */
export type Item = Readonly<Record<string, unknown>>;

/**
 * A gateway whose webhook has a JSON format of its own. The rules of its emitter are for log records; their names are paths in an item
 * (`metadata.usage_object.prompt_tokens`). Other fields of an item are not read.
 */
export type Gateway = {
  emitter: Emitter;
  /** The schema of an item. Refuses fields of a wrong type that are read; other fields may be anything. */
  item: z.ZodType<Item>;
  /** Converts lists of tags in an item to objects. */
  unfold?: (item: Item) => Item;
  /** When the call ended: seconds since 1970. */
  endedAt?: (item: Item) => number | undefined;
  /** The paths in an item of an attribute that the settings of a source name; by default, the name itself is the path. */
  attribute?: (name: string) => string[];
  /** Used as the service's name. */
  service?: (item: Item) => string | undefined;
  /** Whether the reported cost counts (`as reported`), or must be read as 0 (`free`) or as missing (`unknown`). */
  cost?: (item: Item) => "as reported" | "free" | "unknown";
};
