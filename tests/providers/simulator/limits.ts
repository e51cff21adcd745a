import { randomUUID } from "node:crypto";
import { compare, type Decimal, parseDecimal, sum } from "@/lib/decimal";

/** Something of an organization that can be limited. */
export type Thing = {
  kind: "organization" | "project" | "workspace" | "key" | "member" | "guardrail" | "repository";
  id: string;
  name: string;
  /** Whether Broadcast is on in a workspace of OpenRouter. */
  broadcasts?: boolean;
};

/** A limit as a provider holds it: dollars as text. */
export type Held = {
  kind: Thing["kind"];
  target: string;
  id: string;
  usd: string;
  period: string;
  stops: boolean;
};

/** What of an organization can be limited, the limits, and what was spent. A test changes it. */
export class Limits {
  things: Thing[] = [];
  held: Held[] = [];
  /** What writes are refused with; empty: they are not. */
  refusal = "";
  /** How many limits were written or removed. */
  writes = 0;
  private spent: { target: string; usd: Decimal }[] = [];

  find(kind: Thing["kind"], target: string, period?: string): Held | undefined {
    return this.held.find(
      (each) =>
        each.kind === kind &&
        each.target.toLowerCase() === target.toLowerCase() &&
        (period ?? each.period) === each.period,
    );
  }

  set(kind: Thing["kind"], target: string, usd: string, period: string, stops = true): Held {
    const found = this.find(kind, target, kind === "key" ? undefined : period);
    const held = { kind, target, id: found?.id ?? `limit_${randomUUID()}`, usd, period, stops };
    this.held = [...this.held.filter((each) => each !== found), held];
    return held;
  }

  unset(held: Held | undefined): void {
    this.held = this.held.filter((each) => each !== held);
  }

  /** A call of a model by something, in the present period. @returns whether its limits admit it; then it counts */
  call({ id }: Pick<Thing, "id">, usd: string): boolean {
    const own = this.spent.filter(({ target }) => target === id).map((each) => each.usd);
    const total = sum([...own, parseDecimal(usd)]);
    const limits = this.held.filter(({ target, stops }) => stops && target === id);
    if (limits.some((limit) => compare(total, parseDecimal(limit.usd)) > 0)) return false;
    this.spent.push({ target: id, usd: parseDecimal(usd) });
    return true;
  }
}
