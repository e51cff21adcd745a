import { afterAll, beforeAll, expect, test } from "vitest";
import { apiClient, costMessage, signUpUser } from "@/tests/helpers/client";
import { createTestDatabase, type TestDatabase } from "@/tests/helpers/database";
import { noteProject } from "@/tests/helpers/hosted-sign-in";
import { Fixtures } from "@/tests/helpers/keys";
import { startNextAlone } from "@/tests/helpers/next-alone";
import { settingsFor } from "./project";

const cronSecret = "a-secret-of-the-scheduler";
let database: TestDatabase;
let fixtures: Fixtures;
let next: Awaited<ReturnType<typeof startNextAlone>>;

beforeAll(async () => {
  database = await createTestDatabase();
  fixtures = new Fixtures(database.adminUrl);
  if (!database.project) throw new Error("Run this by `npm run test:supabase`.");
  next = await startNextAlone({
    VERCEL: "1",
    POSTGRES_URL: database.url,
    POSTGRES_URL_NON_POOLING: database.adminUrl,
    CRON_SECRET: cronSecret,
    ...settingsFor(database.project),
  });
  noteProject(next.baseUrl, database.project);
});
afterAll(async () => {
  await next?.stop();
  await fixtures?.close();
  await database?.drop();
});

test("Next alone, as on Vercel, records exactly over the pooler for somebody whom the project signed in", async () => {
  const user = await signUpUser(next.baseUrl);
  const [{ slug }] = (await user.get("/api/v1/me")).body.workspaces as [{ slug: string }];
  const key = await user.call("POST", `/api/v1/workspaces/${slug}/api-keys`, {
    name: "CI",
    permissions: ["log_usage", "read_summaries"],
  });
  const program = apiClient(next.baseUrl, String(key.body.secret));
  await Promise.all(Array.from({ length: 20 }, () => program.post(costMessage())));
  expect((await program.get("/api/v1/summary/month")).body).toMatchObject({
    total_usd: 0.2,
    message_count: 20,
  });
  expect((await fetch(`${next.baseUrl}/sign-in`)).status).toBe(200);
});

test("The scheduler's call runs the jobs, and only with its secret", async () => {
  const run = (secret: string) =>
    fetch(`${next.baseUrl}/api/jobs`, { headers: { authorization: `Bearer ${secret}` } });
  expect((await run("another-secret-of-somebody")).status).toBe(401);
  const answer = await run(cronSecret);
  expect(answer.status, await answer.clone().text()).toBe(200);
});
