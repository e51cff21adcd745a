import { expect, test } from "vitest";
import { verifySlackSignature } from "./signature";

// The example of Slack's documentation.
const secret = "8f742231b10e8888abcd99yyyzzz85a5";
const digest = "a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503";
const proof = { signature: `v0=${digest}`, timestamp: "1531420618" };
const at = 1_531_420_618_000;
const body = Buffer.from(
  "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c",
);

test("Verifies the example of Slack's documentation, up to five minutes before and after its time", () => {
  for (const now of [at, at + 300_000, at - 300_000])
    expect(verifySlackSignature(body, proof, secret, now)).toBe(digest);
});

test.each([
  ["an old request", { now: at + 301_000 }],
  ["a request of the future", { now: at - 301_000 }],
  ["another body", { body: Buffer.concat([body, Buffer.from(" ")]) }],
  ["another secret", { secret: secret.replace("8", "9") }],
  ["another time", { timestamp: "1531420619" }],
  ["a time with a sign", { timestamp: "+1531420618" }],
  ["no time", { timestamp: null }],
  ["no signature", { signature: null }],
  ["an empty signature", { signature: "v0=" }],
  ["another version", { signature: `v1=${digest}` }],
  ["a shorter signature", { signature: proof.signature.slice(0, -2) }],
])("Refuses %s", (_, changes) => {
  const given = { body, secret, now: at, ...proof, ...changes };
  expect(verifySlackSignature(given.body, given, given.secret, given.now)).toBeUndefined();
});
