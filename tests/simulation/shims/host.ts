import type { Host } from "../host";

/** The process that a bundle runs in. `bundle.ts` passes it to the bundle. */
declare const simulation: Host;
export const host = simulation;
