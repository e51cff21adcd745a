import type { Caller, World } from "./callers";

/** A call that succeeds for whoever may make it: the path's parameters beside `slug`, the query and the body. */
export type Sample = {
  params?: Record<string, string>;
  query?: string;
  body?: unknown;
  /** Puts back what a call that succeeded took from the world. */
  restore?: () => Promise<void>;
};

/** Makes a call of its own for each caller: what one of them changed is never in the way of the next. */
export type MakeSample = (world: World, caller: Caller) => Promise<Sample> | Sample;
export type Samples = Record<string, MakeSample>;

export const nothing: MakeSample = () => ({});
