import { expect, test } from "vitest";
import { parseEnv } from "@/lib/env";
import { firstSteps } from "./first-steps";

const demo = { email: "demo@outlay.local", password: "a-password", key: "svc_live_demo" };

test("Prints the demo's password and key with the service's public address", () => {
  const settings = parseEnv({ BASE_URL: "https://outlay.example.com/" });
  const printed = firstSteps(settings, "the-token", demo);
  expect(printed).toContain("https://outlay.example.com/sign-in as demo@outlay.local, password a-password");
  expect(printed).toContain("curl https://outlay.example.com/api/v1/summary/month");
  expect(printed).toContain("'Authorization: Bearer svc_live_demo'");
  expect(printed).toContain("https://outlay.example.com/outbox/open?token=the-token");
  expect(printed).not.toContain("127.0.0.1");
});

test.each([
  ["link", "https://outlay.example.com/outbox/open?token=the-token"],
  ["everyone", "https://outlay.example.com/outbox"],
  ["off", "OUTLAY_OUTBOX=off"],
])("Says where mails are with OUTLAY_OUTBOX=%s", (setting, where) => {
  const settings = parseEnv({ BASE_URL: "https://outlay.example.com", OUTLAY_OUTBOX: setting });
  expect(firstSteps(settings, "the-token", undefined)).toContain(where);
  expect(firstSteps(settings, "the-token", demo)).toContain(where);
});

test.each([demo, undefined])("names no page where none is served", (access) => {
  const printed = firstSteps(parseEnv({ OUTLAY_PAGES: "off" }), "the-token", access);
  expect(printed).toContain("/api/v1/messages");
  expect(printed).not.toMatch(/\/sign-|\/outbox|\/docs/);
});
