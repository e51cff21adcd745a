import { expect, test } from "vitest";
import type { Harness } from "@/tests/helpers/harness";
import { newOutlay } from "./client";
import { type loadCalls, type RecordedCall, recordedCalls } from "./recorded-calls";

/**
 * A client of ours with a key in a workspace of its own.
 * @returns it, and `recorded`: sends what waits, and reads the calls of the workspace; fails where the client told of an error
 */
export async function startRecording(harness: Harness) {
  const started = await newOutlay(harness, harness.services[0]?.baseUrl ?? "");
  const recorded = async () => {
    expect(await started.outlay.flush()).toBe(true);
    expect(started.errors).toEqual([]);
    return recordedCalls(harness, started.workspace);
  };
  return { ...started, recorded };
}

/** A provider's SDK with what the tests of all SDKs need of it. */
type WrappedSdk = {
  /** The calls that the provider's file in `tests/providers` makes. */
  sdk: Awaited<ReturnType<typeof loadCalls>>;
  /** The class of the SDK's client. */
  sdkClass: new (
    ...settings: never[]
  ) => object;
  /** The SDK's client as the provider made it. */
  plain: () => object;
  /** The user in whose name a test calls. */
  user: () => string;
  /** Wraps the SDK's client. */
  wrap: () => Promise<{ client: object; recorded: () => Promise<RecordedCall[]> }>;
  /** Each of the calls, as it is recorded. */
  recordedCall: RecordedCall;
};

/** Declares the tests that every wrapped SDK has to pass. */
export function testWrappedSdk({ sdk, sdkClass, plain, user, wrap, recordedCall }: WrappedSdk): void {
  const [firstCall = ""] = Object.keys(sdk.calls);

  test.each(Object.keys(sdk.calls))("Shows the caller the same, and records once: %s", async (name) => {
    const { client, recorded } = await wrap();
    const expected = await sdk.calls[name](plain(), user());
    expect(await sdk.calls[name](client, user())).toEqual(expected);
    expect(await recorded()).toEqual([recordedCall]);
  });

  test("Is of the same class, and leaves the original as it was", async () => {
    const { client, recorded } = await wrap();
    expect(client).toBeInstanceOf(sdkClass);
    await sdk.calls[firstCall](plain(), user());
    expect(await recorded()).toEqual([]);
  });

  test.each([
    ["fails", "broken", false],
    ["fails before its stream", "broken", true],
    ["breaks off in its stream", "cut", true],
    ["fails in its stream", "failing", true],
  ])("Passes the same error on, and records nothing, when a call %s", async (_, model, stream) => {
    const { client, recorded } = await wrap();
    const expected = await sdk.failingCall(plain(), user(), model, stream);
    expect(expected).toBeDefined();
    expect(await sdk.failingCall(client, user(), model, stream)).toEqual(expected);
    expect(await recorded()).toEqual([]);
  });
}
