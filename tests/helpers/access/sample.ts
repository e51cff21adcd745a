import type { Caller, World } from "./callers";

/**
 * A request that succeeds for callers with the right to it: the path's parameters besides `slug`, the query, headers and the
 * body.
 */
export type Sample = {
  params?: Record<string, string>;
  query?: string;
  headers?: Record<string, string>;
  body?: unknown;
  /** Restores what a successful call changed. */
  restore?: () => Promise<void>;
};

/** Makes a new call for each caller, so that one caller's changes do not affect the next. */
export type MakeSample = (world: World, caller: Caller) => Promise<Sample> | Sample;
export type Samples = Record<string, MakeSample>;

export const nothing: MakeSample = () => ({});
