import type { Ask } from "@/lib/bills/pulls/provider";

/** A destination at a provider. `workspace`: the provider's own; `turned_on`: sending was off in it, and was turned on. */
export type Destination = { id: string; workspace?: string; turned_on?: boolean };

/** What is registered. `base`: our OTLP address without the path of a signal; `authorization`: the header with our key. */
export type Registration = { name: string; base: string; authorization: string };

/** How a registration is at the provider. `problem`: null where nothing is wrong. */
export type Standing = { state: "registered" | "failing" | "disabled" | "gone"; problem: string | null };

/** How a provider is asked to send its telemetry. Each function throws ProviderRefusal and ProviderFailure. */
export type Registrar = {
  /** Registers destinations for all calls of the account, after removing others of the same name, which an interrupted attempt left. */
  register: (ask: Ask, registration: Registration) => Promise<Destination[]>;
  /** Reads how they are. */
  read: (ask: Ask, destinations: readonly Destination[]) => Promise<Standing>;
  /** Has a test sent, where the provider can. @returns why it did not arrive; undefined where it did */
  test?: (ask: Ask, destinations: readonly Destination[]) => Promise<string | undefined>;
  /** Removes destinations by their ids and by their name. Nothing happens where there are none. */
  remove: (ask: Ask, destinations: readonly Destination[], name: string) => Promise<void>;
};
