import { describe, expect, test } from "vitest";
import { alert, send } from "@/tests/helpers/alert-requests";

// Checks what each kind of channel is sent for a digest.

describe("A digest", () => {
  const many = Array.from({ length: 12 }, (_, index) => ({
    ...alert,
    id: `a${index}`,
    level: String(80 + index),
  }));
  const digest = { alert: null, digest: { time_zone: "Europe/Berlin", count: 12, alerts: many } };
  const title = "12 alerts of Acme";

  test("Is an event with all of its alerts for a webhook", () => {
    const { type, data } = send("webhook", digest).body;
    expect([type, data.count, data.alerts.length]).toEqual(["alert.digest", 12, 12]);
    expect(data.alerts[0]).toMatchObject({
      id: "a0",
      fired_at: "2026-11-21T09:30:00.123+00:00",
      severity: "warning",
    });
  });

  test("Is one message in a chat that lists nine alerts and counts the others", () => {
    const [header, , fields] = send("slack", digest).body.blocks;
    expect([header.text.text, fields.fields.length, fields.fields[9].text]).toEqual([
      title,
      10,
      "*And*\n3 more",
    ]);
    const [embed] = send("discord", digest).body.embeds;
    expect([embed.title, embed.fields.length, embed.color]).toEqual([title, 10, 0xd97706]);
    const card = send("teams", digest).body.attachments[0].content;
    expect([card.body[0].text, card.body[2].facts.length]).toEqual([title, 10]);
  });

  test("Is an incident of its own in PagerDuty, as serious as its worst alert", () => {
    const worst = [...many.slice(1), { ...alert, state: "alert" as const }];
    const { dedup_key: key, payload } = send(
      "pagerduty",
      { ...digest, digest: { ...digest.digest, alerts: worst } },
      "eu R0UT1NGK3Y",
    ).body;
    expect([key, payload.severity, payload.class]).toEqual(["outlay/w1/digest/d1", "critical", "digest"]);
  });
});
