import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { addChannel, crossing, deliveriesOf, raise } from "@/tests/helpers/alerts";
import { connectService } from "@/tests/helpers/connect-service";
import { withHarness } from "@/tests/helpers/harness";
import { latestMail } from "@/tests/helpers/outbox";
import type { Service } from "@/tests/helpers/service";
import { makeTeam, type Team } from "@/tests/helpers/team";

const harness = withHarness({ services: 0 });
connectService(() => harness.database);

/** A mail as the server received it. */
type Mail = { from: string; to: string[]; source: string };

let team: Team;
let mailing: Service;
const mails: Mail[] = [];
let refuses = false;

const server = new SMTPServer({
  secure: false,
  disabledCommands: ["STARTTLS"],
  authOptional: true,
  onAuth: ({ username, password }, _, done) =>
    username === "outlay" && password === "secret" ? done(null, { user: username }) : done(new Error("no")),
  onData: (stream, session, done) => {
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("end", () => {
      if (refuses) return done(new Error("Mailbox full of SECRETS"));
      const { mailFrom, rcptTo } = session.envelope;
      mails.push({
        from: mailFrom ? mailFrom.address : "",
        to: rcptTo.map(({ address }) => address).sort(),
        source: Buffer.concat(chunks).toString("utf8"),
      });
      done();
    });
  },
});

beforeAll(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.server.address() as AddressInfo;
  mailing = await harness.start({
    SMTP_URL: `smtp://outlay:secret@127.0.0.1:${port}`,
    SMTP_FROM: "Outlay <alerts@outlay.example.com>",
    BASE_URL: "https://outlay.example.com",
  });
  team = await makeTeam(harness);
});
afterAll(() => new Promise<void>((resolve) => server.close(() => resolve())));

const stateOf = async (channel: string) => (await deliveriesOf(harness.fixtures, channel))[0];

test("Mails the members of a channel by the server of the settings, in plain text and HTML, under one id", async () => {
  const people = [team.users.viewer.email, team.users.owner.email].sort();
  const channel = await addChannel(harness.fixtures, team.workspace, {
    kind: "email",
    target: [...people, team.users.stranger.email].join(", "),
  });
  await raise(harness.fixtures, crossing(team.workspace, { details: { budget: "Grün & <b>" } }));
  await vi.waitUntil(async () => (await stateOf(channel)).state === "delivered", { timeout: 10_000 });
  expect(mails).toHaveLength(1);
  const [{ from, to, source }] = mails as [Mail];
  expect([from, to]).toEqual(["alerts@outlay.example.com", people]);
  expect(source).toContain(`Message-ID: <${(await stateOf(channel)).id}@outlay>`);
  expect(source).toContain("Content-Type: text/plain; charset=utf-8");
  expect(source).toContain("Content-Type: text/html; charset=utf-8");
  expect(source).toMatch(/^Subject: =\?UTF-8\?/m);
  expect(source.split("Content-Type: text/html")[1]).not.toContain("<b>");
  expect(source.replace(/=\r\n/g, "").replaceAll("=3D", "=")).toContain("https://outlay.example.com/");
});

test("Tries again what the mail server refused, without its words", async () => {
  refuses = true;
  const channel = await addChannel(harness.fixtures, team.workspace, {
    kind: "email",
    target: team.users.owner.email,
    least_percent: 100,
  });
  await raise(harness.fixtures, crossing(team.workspace, { level: "100" }));
  await vi.waitUntil(async () => (await stateOf(channel)).last_error !== null, { timeout: 10_000 });
  const { state, last_error: error } = await stateOf(channel);
  expect(state).toBe("pending");
  expect(error).not.toContain("SECRETS");
  refuses = false;
  await harness.fixtures.sql.query("update public.deliveries set next_attempt_at = now()");
  await vi.waitUntil(async () => (await stateOf(channel)).state === "delivered", { timeout: 10_000 });
});

test("Keeps mails in the local outbox where no mail server is set", async () => {
  await mailing.stop();
  await harness.start();
  const channel = await addChannel(harness.fixtures, team.workspace, {
    kind: "email",
    target: team.users.admin.email,
    least_percent: 110,
  });
  await raise(harness.fixtures, crossing(team.workspace, { level: "110" }));
  await vi.waitUntil(async () => (await stateOf(channel)).state === "delivered", { timeout: 10_000 });
  expect(await latestMail(team.users.admin.email)).toMatchObject({
    subject: "110% of the budget Everything is spent",
    link: expect.stringContaining("/budgets#budget-"),
  });
});
