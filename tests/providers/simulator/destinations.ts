import { randomUUID } from "node:crypto";
import { exportSpans, type TestSpan, toProtobuf } from "@/tests/helpers/otlp";

/** A telemetry destination as a provider holds it. `url`: as it was registered, without the path of a signal at Anthropic. */
export type HeldDestination = {
  provider: "anthropic" | "openrouter";
  id: string;
  name: string | null;
  url: string;
  headers: Record<string, string>;
  /** The provider's workspace; null for all. */
  workspace: string | null;
  settings: Record<string, unknown>;
  /** Why it is disabled; null while it is not. */
  disabled: string | null;
  lastError: string | null;
  lastErrorAt: string | null;
  lastSuccessAt: string | null;
};

/** Where an organization's providers send their telemetry. They really send it. A test changes it. */
export class Destinations {
  held: HeldDestination[] = [];
  /** What registrations and removals are refused with, `{headers}` for those that were sent; empty: they are not. */
  refusal = "";
  /** Whether Anthropic's tests are sent to nobody. */
  losesTests = false;

  add(given: Pick<HeldDestination, "provider" | "name" | "url" | "headers" | "workspace" | "settings">) {
    const own = { id: `tdst_${randomUUID()}`, disabled: null, lastError: null, lastErrorAt: null };
    const made: HeldDestination = { ...given, ...own, lastSuccessAt: null };
    if (given.provider === "openrouter") made.id = randomUUID();
    this.held.push(made);
    return made;
  }

  find(provider: HeldDestination["provider"], id: string | undefined) {
    return this.held.find((each) => each.provider === provider && each.id === id);
  }

  remove(found: HeldDestination): void {
    this.held = this.held.filter((each) => each !== found);
  }

  /** Sends spans to one destination, as its provider does. @returns what went wrong, in the provider's words */
  async send(to: HeldDestination, spans: TestSpan[], name = "call"): Promise<string | null> {
    const isAnthropic = to.provider === "anthropic";
    const { body } = exportSpans(spans, {
      name,
      service: isAnthropic ? "claude-platform" : "openrouter",
      scope: isAnthropic ? "com.anthropic.claude-platform" : "openrouter",
    });
    const answer = await fetch(isAnthropic ? `${to.url}/v1/traces` : to.url, {
      method: "POST",
      redirect: "manual",
      headers: { ...to.headers, "content-type": isAnthropic ? "application/x-protobuf" : "application/json" },
      body: isAnthropic ? Buffer.from(toProtobuf("traces", body)) : JSON.stringify(body),
    });
    const { status } = answer;
    if (status >= 300 && status < 400) to.disabled = "redirect";
    if (status >= 200 && status < 300) return null;
    return status < 400 ? `redirect (status ${status})` : `HTTP error (status ${status})`;
  }

  /** Sends the spans of calls to every destination of a provider that is enabled. @returns what went wrong at each */
  async tell(provider: HeldDestination["provider"], spans: TestSpan[]): Promise<(string | null)[]> {
    const problems: (string | null)[] = [];
    for (const to of this.held.filter((each) => each.provider === provider && each.disabled === null)) {
      const problem = await this.send(to, spans);
      if (problem === null) to.lastSuccessAt = new Date().toISOString();
      else Object.assign(to, { lastError: problem, lastErrorAt: new Date().toISOString() });
      problems.push(problem);
    }
    return problems;
  }
}
