import type { z } from "zod";
import type { Emitter } from "@/lib/sources/emitters/emitter";

/** An item of a delivery, parsed: what a gateway tells of one call. */
export type Item = Readonly<Record<string, unknown>>;

/**
 * A gateway whose webhook is a JSON form of its own. Its emitter's rules are those of log records, and their names are paths
 * in an item (`metadata.usage_object.prompt_tokens`). Nothing else of an item is read.
 */
export type Gateway = {
  emitter: Emitter;
  /** What an item must be. Fields that are read and have another type are refused; others may be anything. */
  item: z.ZodType<Item>;
  /** An item with lists of tags as objects. */
  unfold?: (item: Item) => Item;
  /** When the call ended: seconds since 1970. */
  endedAt?: (item: Item) => number | undefined;
  /** Where an attribute that the settings of a source name may stand in an item; as a path of it, where left out. */
  attribute?: (name: string) => string[];
  /** Who sent it, in the place of a service's name. */
  service?: (item: Item) => string | undefined;
  /** The gateway's figure of the cost where the number alone misleads: 0 for free, undefined for none. */
  cost?: (item: Item) => "as told" | "free" | "unknown";
};
