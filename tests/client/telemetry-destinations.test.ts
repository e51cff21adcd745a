import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Simulator, simulateProviders } from "@/tests/providers/simulator/simulate-providers";
import { loadCalls } from "./recorded-calls";

// The simulator at which the service registers itself in other tests answers as the providers do: their own SDKs register there.

let simulator: Simulator;
// biome-ignore lint/suspicious/noExplicitAny: it has other types than ours; its own tsconfig.json checks it.
let sdks: any;
const received: string[] = [];
const receiver = createServer((request, response) => {
  received.push(`${request.method} ${request.url} ${request.headers.authorization}`);
  request.resume();
  response.end();
});
beforeAll(async () => {
  simulator = await simulateProviders();
  sdks = await loadCalls("telemetry-destinations");
  simulator.add("admin", []).limits.things = [{ kind: "workspace", id: "ws_1", name: "Checkout" }];
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  await simulator.close();
  receiver.close();
});
const url = () => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;

test("Anthropic's SDK registers, lists, tests, reads and removes a destination", async () => {
  expect(await sdks.anthropicDestination(simulator.url, "admin", `${url()}/otlp`)).toEqual({
    made: ["authorization"],
    listed: ["Outlay"],
    tested: { type: "success" },
    read: "enabled",
    removed: "telemetry_destination_deleted",
  });
  expect(received).toEqual(["POST /otlp/v1/traces Bearer secret"]);
});

test("OpenRouter's SDK registers, lists, reads and removes a destination", async () => {
  expect(await sdks.openrouterDestination(simulator.url, "admin", `${url()}/v1/traces`, "ws_1")).toEqual({
    ...{ made: [true, 1, ["global", "europe", "us"]], listed: ["Outlay"], read: true, removed: true },
  });
});
