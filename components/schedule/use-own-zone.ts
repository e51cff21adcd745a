"use client";

import { useSyncExternalStore } from "react";

/** The time zone of the reader's computer, by its IANA name; undefined on the server, which does not know it. */
export function useOwnZone(): string | undefined {
  return useSyncExternalStore(nothing, ownZone, () => undefined);
}

/** A subscription without events: the zone does not change while a page is open. */
const nothing = () => () => {};

const ownZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;
