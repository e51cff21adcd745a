/**
 * The person, session, feature, project and tags of a span, by its own attributes. `chosen…`: from the attributes that the settings of
 * its source name, which take precedence over the emitter's attributes of any span.
 */
export type SpanNames = {
  user?: string | undefined;
  session?: string | undefined;
  feature?: string | undefined;
  project?: string | undefined;
  chosenFeature?: string | undefined;
  chosenProject?: string | undefined;
  tags?: Record<string, string> | undefined;
};

/** A span's place in its trace. Numbers are the last 48 bits of its ids. `names`: null if it has none. */
export type TreeSpan = { trace: number; span: number; parent: number | null; names: SpanNames | null };

/** The last 48 bits of a hex id, as a number. */
export const shortId = (hex: string): number => Number.parseInt(hex.slice(-12), 16);

/** Names that spans around a call have and its own span lacks. */
export type FoundNames = {
  user?: string;
  session?: string;
  feature?: string;
  project?: string;
  tags: Record<string, string>;
};

/** How the spans change a recorded call. */
export type Settled<Call> = {
  call: Call;
  /** Each of its spans encloses another recorded call: it repeats that call, or sums up several. */
  isAround: boolean;
  /** The nearest calls around it, which it replaces. */
  around: Call[];
  /** The names that spans around it have which came in other exports. */
  names: FoundNames;
};

/**
 * A name that a span has itself or takes from a span around it. `first` and `last`: the numbers of the first and last export with a span
 * from that one to this, both included.
 */
type Name = { value: string; first: number; last: number };

type Node<Call> = TreeSpan & {
  call: Call | undefined;
  /** Its call was recorded, and calls inside it have replaced that. */
  isReplaced: boolean;
  arrival: number;
  outer: Node<Call> | undefined;
  /** The names at or around it, once they are computed. Names of tags have the prefix `tag:`. */
  found: Map<string, Name> | undefined;
};

/**
 * The spans that several exports reported with one key, and the calls that were recorded for them. No I/O. A span that is reported again
 * does not change its names.
 */
export class SpanTree<Call extends object> {
  readonly #nodes = new Map<string, Node<Call>>();
  readonly #arrivals = new Set<number>();
  /** The parents of spans that report recorded calls. */
  readonly #aroundCalls = new Set<string>();

  /** Adds a span, or its call if the span is known. @param arrival the number of the export that it came in */
  add(
    { trace, span, parent, names }: TreeSpan,
    call: Call | undefined,
    arrival: number,
    isReplaced = false,
  ): void {
    const name = `${trace} ${span}`;
    if (call) this.#aroundCalls.add(`${trace} ${parent}`);
    const known = this.#nodes.get(name);
    if (known) {
      known.call ??= call;
      return;
    }
    this.#arrivals.add(arrival);
    this.#nodes.set(name, {
      trace,
      span,
      parent,
      names,
      call,
      isReplaced,
      arrival,
      outer: undefined,
      found: undefined,
    });
  }

  has({ trace, span }: Pick<TreeSpan, "trace" | "span">): boolean {
    return this.#nodes.has(`${trace} ${span}`);
  }

  /**
   * Whether calls inside the parent of a span have replaced, or are going to replace, the parent's call. Then the span reports another
   * call than its parent.
   * @param isSame whether the span can be another report of the parent's call
   */
  isTakenOver(
    { trace, parent }: Pick<TreeSpan, "trace" | "parent">,
    isSame: (call: Call) => boolean,
  ): boolean {
    const name = `${trace} ${parent}`;
    const node = this.#nodes.get(name);
    if (!node?.call) return node?.isReplaced === true;
    return this.#aroundCalls.has(name) || !isSame(node.call);
  }

  /** How an export changes the recorded calls, by its spans around or inside them. @param arrival the number of the export */
  settle(arrival: number): Settled<Call>[] {
    if (this.#arrivals.size < 2) return [];
    this.#link();
    const outer = this.#outer();
    const settled = new Map<Call, Settled<Call>>();
    for (const node of this.#nodes.values()) {
      const { call } = node;
      if (!call) continue;
      const known = settled.get(call) ?? { call, isAround: true, around: [], names: { tags: {} } };
      settled.set(call, known);
      if (outer.has(node)) continue;
      known.isAround = false;
      const around = nearestCall(node);
      if (around) known.around.push(around);
      // Spans of one export have exchanged their names already.
      complete(known.names, this.#namesAt(node), ({ first, last }) => last === arrival && first !== arrival);
    }
    for (const each of settled.values())
      each.around = each.around.filter((around) => settled.get(around)?.isAround);
    return [...settled.values()];
  }

  /** Links each span to the one around it. Drops links that would form a cycle. */
  #link(): void {
    const done = new Set<Node<Call>>();
    for (const node of this.#nodes.values()) {
      node.outer = node.parent === null ? undefined : this.#nodes.get(`${node.trace} ${node.parent}`);
      node.found = undefined;
    }
    for (const start of this.#nodes.values()) {
      const path = new Set<Node<Call>>();
      for (let at: Node<Call> | undefined = start; at && !done.has(at); at = at.outer) {
        path.add(at);
        if (at.outer && path.has(at.outer)) at.outer = undefined;
      }
      for (const node of path) done.add(node);
    }
  }

  /** The spans around recorded calls. */
  #outer(): Set<Node<Call>> {
    const outer = new Set<Node<Call>>();
    for (const node of this.#nodes.values()) {
      if (!node.call) continue;
      for (let at = node.outer; at && !outer.has(at); at = at.outer) outer.add(at);
    }
    return outer;
  }

  /** The names at a span: each from the nearest span, at or around it, that has it. Visits each span once. */
  #namesAt(node: Node<Call>): Map<string, Name> {
    const path: Node<Call>[] = [];
    for (let at: Node<Call> | undefined = node; at && !at.found; at = at.outer) path.push(at);
    for (const at of path.reverse()) {
      const { arrival } = at;
      at.found = new Map();
      for (const [name, { value, first, last }] of at.outer?.found ?? [])
        at.found.set(name, { value, first: Math.min(first, arrival), last: Math.max(last, arrival) });
      const { tags = {}, ...names } = at.names ?? {};
      const own = [
        ...Object.entries(names),
        ...Object.entries(tags).map(([tag, value]) => [`tag:${tag}`, value] as const),
      ];
      for (const [name, value] of own)
        if (value) at.found.set(name, { value, first: arrival, last: arrival });
    }
    return node.found ?? new Map();
  }
}

function nearestCall<Call>(node: Node<Call>): Call | undefined {
  for (let at = node.outer; at; at = at.outer) if (at.call && at.call !== node.call) return at.call;
  return undefined;
}

/** Adds names that are new to a call. Names from another of its spans are kept. */
function complete(names: FoundNames, found: ReadonlyMap<string, Name>, isNew: (name: Name) => boolean): void {
  const nameFrom = (...of: string[]) => {
    const first = of.map((name) => found.get(name)).find((name) => name !== undefined);
    return first && isNew(first) ? first.value : undefined;
  };
  const own = {
    user: nameFrom("user"),
    session: nameFrom("session"),
    feature: nameFrom("chosenFeature", "feature"),
    project: nameFrom("chosenProject", "project"),
  };
  for (const [name, value] of Object.entries(own)) if (value) names[name as keyof typeof own] ??= value;
  for (const name of found.keys()) {
    const value = name.startsWith("tag:") ? nameFrom(name) : undefined;
    if (value !== undefined) names.tags[name.slice(4)] ??= value;
  }
}
