/** Splits a stream of server-sent events (WHATWG HTML, 9.2.6) into events, each with the blank line that ends it. */
export class EventSplitter {
  #rest = "";

  /** Takes the next part of the text. @returns the events that are complete */
  push(text: string): string[] {
    this.#rest += text;
    const events: string[] = [];
    for (;;) {
      const end = /\r\n\r\n|\n\n|\r\r/.exec(this.#rest);
      if (!end) return events;
      const length = end.index + end[0].length;
      events.push(this.#rest.slice(0, length));
      this.#rest = this.#rest.slice(length);
    }
  }

  /** What came after the last complete event. */
  end(): string {
    const rest = this.#rest;
    this.#rest = "";
    return rest;
  }
}

/** The JSON of an event's data; undefined where it has none, or other text such as `[DONE]`. */
export function readData(event: string): unknown {
  const data = event
    .split(/\r\n|\n|\r/)
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice("data:".length))
    .join("\n");
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}
