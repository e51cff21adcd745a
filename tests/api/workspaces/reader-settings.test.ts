import { beforeAll, expect, test } from "vitest";
import { signUpUser } from "@/tests/helpers/client";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import type { User } from "@/tests/helpers/team";

const harness = withSharedHarness();
const path = "/api/v1/me";

let ada: User;
let grace: User;
beforeAll(async () => {
  const baseUrl = harness.services[0]?.baseUrl ?? "";
  [ada, grace] = [await signUpUser(baseUrl), await signUpUser(baseUrl)];
});

const settingsOf = async (user: User) => {
  const { body } = await user.call("GET", path);
  const { locale, shown_currency } = body.profile as Record<string, unknown>;
  return [locale, shown_currency];
};

test("Keeps a person's locale and currency, for this person alone", async () => {
  expect(await settingsOf(ada)).toEqual([null, "usd"]);
  const changed = await ada.call("PATCH", path, { locale: "de-DE", shown_currency: "both" });
  expect([changed.status, changed.body.profile]).toEqual([
    200,
    expect.objectContaining({ locale: "de-DE", shown_currency: "both" }),
  ]);
  expect(await settingsOf(ada)).toEqual(["de-DE", "both"]);
  expect(await settingsOf(grace)).toEqual([null, "usd"]);
  // A change of something else keeps them; null is the browser's locale again.
  await ada.call("PATCH", path, { display_name: "Ada" });
  expect(await settingsOf(ada)).toEqual(["de-DE", "both"]);
  await ada.call("PATCH", path, { locale: null, shown_currency: "usd" });
  expect(await settingsOf(ada)).toEqual([null, "usd"]);
});

test.each([
  [{ locale: "de" }, "locale"],
  [{ locale: "ar-EG" }, "locale"],
  [{ locale: "en-US-u-nu-arab" }, "locale"],
  [{ locale: "" }, "locale"],
  [{ shown_currency: "EUR" }, "shown_currency"],
])("Refuses %j and changes nothing", async (changes, field) => {
  const { status, body } = await ada.call("PATCH", path, { display_name: "Changed", ...changes });
  expect([status, body.error]).toEqual([400, "validation_failed"]);
  expect((body.issues as { path: string }[])[0]?.path).toBe(field);
  const { profile } = (await ada.call("GET", path)).body as { profile: { display_name: string } };
  expect(profile.display_name).not.toBe("Changed");
  expect(await settingsOf(ada)).toEqual([null, "usd"]);
});
