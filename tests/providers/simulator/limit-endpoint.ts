import type { Thing } from "./limits";
import type { Answer, Asked } from "./organization";

export const ok = (body: unknown): Answer => ({ status: 200, body });
export const now = () => new Date().toISOString();
export type Endpoint = (asked: Asked, ...parts: string[]) => Answer;

/** Answers to a refused write, or the write's own. */
export const writing =
  (shape: (message: string) => Answer, endpoint: Endpoint): Endpoint =>
  (asked, ...parts) => {
    const { limits } = asked.organization;
    if (limits.refusal) return shape(limits.refusal);
    limits.writes += 1;
    return endpoint(asked, ...parts);
  };

export const thingsOf = ({ organization }: Asked, kind: Thing["kind"]) =>
  organization.limits.things.filter((thing) => thing.kind === kind);

export const oneOf =
  (kind: Thing["kind"], shape: (thing: Thing) => unknown, missing: Answer): Endpoint =>
  (asked, id) => {
    const found = thingsOf(asked, kind).find((thing) => thing.id === id);
    return found ? ok(shape(found)) : missing;
  };

/** The names of periods there, and ours. */
export const periodNames: Record<string, string> = { daily: "day", weekly: "week", monthly: "month" };
/** The name of one of our periods there. */
export const nameOf = (period: string) =>
  Object.entries(periodNames).find(([, ours]) => ours === period)?.[0] ?? period;

/** The endpoints of a provider. */
export type Endpoints = [method: string, path: RegExp, Endpoint][];
