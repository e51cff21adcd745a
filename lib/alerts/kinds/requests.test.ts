import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import type { Claimed } from "@/lib/alerts/delivery/claimed";
import {
  alert,
  at,
  base,
  budgetLink,
  delivery,
  details,
  named,
  now,
  rowsLink,
  secret,
  send,
  sentence,
} from "@/tests/helpers/alert-requests";
import { alertMail } from "./email";
import { requestOf } from "./requests";

// Checks what each kind of channel is sent about a budget against the documentation of its receiver.

describe("A webhook", () => {
  test("Has the headers and the body that the guide documents", () => {
    const { headers, body } = send("webhook");
    expect(Object.keys(headers)).toEqual(["webhook-id", "webhook-timestamp", "webhook-signature"]);
    expect([headers["webhook-id"], headers["webhook-timestamp"]]).toEqual(["d1", String(now / 1000)]);
    expect(body).toEqual({
      type: "alert.fired",
      timestamp: "2026-11-21T09:30:00.123+00:00",
      data: {
        id: alert.id,
        rule: "budget_threshold",
        state: "warning",
        severity: "warning",
        level: "80",
        workspace: { slug: "acme", name: "Acme" },
        subject: { type: "budget", id: "b1", name: "Checkout" },
        period: { from: "2026-11-01", until: "2026-12-01" },
        title: "80% of the budget Checkout is spent",
        summary: sentence,
        figures: {
          rule: "budget_threshold",
          scope_type: "project",
          scope_value: "checkout",
          percent: "80",
          amount_usd: "1000",
          spent_usd: "800.012500000000000001",
        },
        url: budgetLink,
        activity_url: rowsLink,
      },
    });
  });

  test("Is signed over its id, its time and the bytes of its body", () => {
    const { headers, body } = requestOf(delivery("webhook", "https://receiver.example/"), base, now);
    const expected = new Webhook(secret).sign("d1", new Date(now), body);
    expect(headers["webhook-signature"]).toBe(expected);
  });

  test.each([
    ["global", null, ""],
    ["project", "gone", ""],
    ["feature", "a&b", "&feature=a%26b"],
    ["key", "k1", "&key=k1"],
    ["user", "grace@example.com", "&user=grace%40example.com"],
    ["tag", "team:growth", "&tag=team%3Agrowth"],
  ])("Links to the rows of a budget with the scope %s %s", (scope_type, scope_value, filter) => {
    const scoped = { ...alert, project_slug: null, details: { ...details, scope_type, scope_value } };
    const { data } = send("webhook", { alert: scoped }).body;
    expect(data.activity_url).toBe(rowsLink.replace("&project=checkout", filter));
  });

  test("Says of a test that it is one", () => {
    expect(send("webhook", { alert: null }).body).toEqual({
      type: "alert.test",
      timestamp: "2026-11-21T09:30:05.000+00:00",
      data: {
        workspace: { slug: "acme", name: "Acme" },
        channel: { id: "c1", name: "Ours" },
        url: "https://outlay.example.com/acme/alerts",
      },
    });
  });
});

describe("Slack", () => {
  test("Is sent blocks, with a text for the notification and buttons", () => {
    const { body } = send("slack");
    expect(body.text).toBe(`80% of the budget Checkout is spent. ${sentence}`);
    expect(body.blocks.map(({ type }: { type: string }) => type)).toEqual([
      "header",
      "section",
      "section",
      "actions",
    ]);
    expect(body.blocks[2].fields).toContainEqual({ type: "mrkdwn", text: "*Project*\ncheckout" });
    expect(body.blocks[3].elements.map(({ url }: { url: string }) => url)).toEqual([budgetLink, rowsLink]);
  });

  test.each([
    ["<!channel> & <@U1>", "&lt;!channel&gt; &amp; &lt;@U1&gt;"],
    ["<https://evil.example|click>", "&lt;https://evil.example|click&gt;"],
  ])("Is not told to mention or to link by the name %s", (name, escaped) => {
    expect(send("slack", named(name)).body.text).toContain(escaped);
  });

  test("Is sent a header of at most 150 characters", () => {
    const [header] = send("slack", named("n".repeat(200))).body.blocks;
    expect(header.text.text).toHaveLength(150);
  });
});

describe("Discord", () => {
  test("Is sent an embed that mentions nobody", () => {
    const { body } = send("discord");
    expect(body.allowed_mentions).toEqual({ parse: [] });
    expect(body.embeds).toMatchObject([
      { title: "80% of the budget Checkout is spent", url: budgetLink, color: 0xd97706 },
    ]);
    expect(body.embeds[0].description).toContain(`[Show what was spent](${rowsLink})`);
    expect(body.embeds[0].fields).toContainEqual({ name: "Spent", value: "$800.01", inline: true });
  });

  test("Shows a name with Markdown as it is", () => {
    expect(send("discord", named("**[x](https://evil.example)** @everyone")).body.embeds[0].title).toContain(
      "\\*\\*\\[x\\]\\(https://evil.example\\)\\*\\* \\@everyone",
    );
  });
});

describe("Teams", () => {
  test("Is sent an Adaptive Card as the attachment of a message", () => {
    const { body } = send("teams");
    expect(body.type).toBe("message");
    const [{ contentType, content }] = body.attachments;
    expect(contentType).toBe("application/vnd.microsoft.card.adaptive");
    expect(content).toMatchObject({ type: "AdaptiveCard", version: "1.4" });
    expect(content.body[0]).toMatchObject({ text: "80% of the budget Checkout is spent", color: "Warning" });
    expect(content.body[2].facts).toContainEqual({ title: "Threshold", value: "80%" });
    expect(content.actions).toContainEqual({
      type: "Action.OpenUrl",
      title: "Open the budget",
      url: budgetLink,
    });
  });

  test("Is not told to mention or to link by a name", () => {
    const [title] = send("teams", named("<at>All</at> [x](https://evil.example)")).body.attachments[0].content
      .body;
    expect(title.text).toContain("&lt;at&gt;All&lt;/at&gt; \\[x\\]\\(https://evil.example\\)");
  });
});

describe("PagerDuty", () => {
  const key = "0123456789abcdef0123456789abcdef";

  test.each([
    ["us", "https://events.pagerduty.com/v2/enqueue"],
    ["eu", "https://events.eu.pagerduty.com/v2/enqueue"],
  ])("Is sent an event of the Events API v2 in the region %s", (region, url) => {
    const request = send("pagerduty", {}, `${region} ${key}`);
    expect(request.url).toBe(url);
    expect(request.body).toMatchObject({
      routing_key: key,
      event_action: "trigger",
      dedup_key: "outlay/w1/budget_threshold/b1/2026-11-01",
      payload: {
        summary: `80% of the budget Checkout is spent: ${sentence}`,
        source: base,
        severity: "warning",
        timestamp: "2026-11-21T09:30:00.123+00:00",
        custom_details: { spent_usd: "800.012500000000000001" },
      },
      links: [{ href: budgetLink, text: "Open the budget" }, { href: rowsLink }],
    });
  });

  test.each([
    ["50", "info"],
    ["79.99", "info"],
    ["80", "warning"],
    ["100", "critical"],
    ["120", "critical"],
  ])("Is told the severity of %s %%: %s", (percent, severity) => {
    expect(send("pagerduty", at(percent), `us ${key}`).body.payload.severity).toBe(severity);
  });

  test("Gets one incident for all thresholds of a budget in a period, and another one for a test", () => {
    const keyOf = (more: Partial<Claimed>) => send("pagerduty", more, `us ${key}`).body.dedup_key;
    expect(keyOf(at("100"))).toBe(keyOf(at("80")));
    expect(keyOf({ alert: { ...alert, period: "2026-12-01" } })).not.toBe(keyOf({}));
    expect(keyOf({ alert: null })).toBe("outlay/w1/test/c1");
    expect(keyOf({ alert: { ...alert, subject_id: "s".repeat(256) } }).length).toBeLessThanOrEqual(255);
  });
});

describe("A mail", () => {
  test("Says the same in plain text and in HTML, with links", () => {
    const { subject, text, html, link } = alertMail(delivery("email", null), base);
    expect([subject, link]).toEqual(["80% of the budget Checkout is spent", budgetLink]);
    for (const each of [sentence, "Project", "checkout"])
      expect([text, html].every((part) => part.includes(each))).toBe(true);
    expect(text).toContain(`Show what was spent: ${rowsLink}`);
    expect(html).toContain(rowsLink.replaceAll("&", "&amp;"));
  });

  test("Escapes names in HTML, and has a subject of one line", () => {
    const { subject, html } = alertMail(
      delivery("email", null, named('<img src=x onerror="1">\r\nBcc: a@b')),
      base,
    );
    expect(html).not.toContain("<img");
    expect(subject).not.toMatch(/[\r\n]/);
  });
});

test("A budget at 100% is used up", () => {
  expect(alertMail(delivery("email", null, at("100")), base).subject).toBe("The budget Checkout is used up");
});
