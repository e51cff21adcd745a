/** The bytes of a token of English prose, about. */
const bytesPerToken = 4;

/** The fields of a stream's events that lead to the text of the model, and those that have it. */
const steps = ["choices", "delta", "tool_calls", "function"];
const texts = [
  ...[
    "content",
    "text",
    "reasoning_content",
    "reasoning",
    "refusal",
    "thinking",
    "partial_json",
    "arguments",
  ],
  "delta",
];

/** Counts the output in the events of a stream, whose usage the provider has not reported yet. */
export class ArrivedOutput {
  #pieces = 0;
  #bytes = 0;
  #hasBegun = false;
  #hasFailed = false;
  /** The provider's id of the answer. */
  id: string | undefined;
  /** The model that answers. */
  model: string | undefined;

  /** Takes the data of the next event of OpenAI or Anthropic, or the next part of the AI SDK. */
  add(event: unknown): void {
    const { type, error, response, message, ...data } = (event ?? {}) as Record<string, unknown>;
    const answer = (response ?? message ?? data) as Record<string, unknown>;
    if (error || type === "error" || type === "response.failed") this.#hasFailed = true;
    this.#hasBegun = true;
    const kind = String(type ?? "");
    if (/^(|message_start|response\b.*)$/.test(kind)) {
      if (typeof answer.id === "string") this.id ??= answer.id;
      if (typeof answer.model === "string") this.model ??= answer.model;
    }
    // Other events repeat the text.
    if (/^$|delta$/.test(kind)) this.#read(data);
  }

  /** The estimated tokens: a token a piece, or four bytes a token where that is more. Undefined if no event came, or the call failed. */
  get tokens(): number | undefined {
    if (!this.#hasBegun || this.#hasFailed) return undefined;
    return Math.max(this.#pieces, Math.ceil(this.#bytes / bytesPerToken));
  }

  #read(value: unknown): void {
    if (Array.isArray(value)) {
      for (const item of value) this.#read(item);
      return;
    }
    if (typeof value !== "object" || value === null) return;
    for (const [name, inner] of Object.entries(value)) {
      if (typeof inner === "string" && texts.includes(name)) this.#count(inner);
      else if (steps.includes(name)) this.#read(inner);
    }
  }

  #count(text: string): void {
    if (text === "") return;
    this.#pieces += 1;
    this.#bytes += new TextEncoder().encode(text).length;
  }
}
