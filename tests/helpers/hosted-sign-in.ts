import { createClient } from "@supabase/supabase-js";

/** The parts that the projects of a run share: the logins of Supabase Auth and, by PgBouncer, of the service; the mails. */
export type HostedCluster = {
  authUrl: string;
  pooledUrl: string;
  mails: string;
  smtpPort: number;
  /** An OpenID Connect server that people can sign in with. */
  identities: { url: string; secret: string };
};

/** A project that signs people in: its address and keys, and the address of the mails that it sent. */
export type TestProject = {
  url: string;
  publishableKey: string;
  secretKey: string;
  /** Where it signs tokens with a shared secret. */
  jwtSecret?: string;
  mails: string;
  smtpPort: number;
};

/** The variable in which a process keeps the projects of the services that it started, also for the processes that it starts. */
const variable = "OUTLAY_TEST_PROJECTS";

/** Notes which project signs people in to a service. */
export function noteProject(baseUrl: string, project: TestProject): void {
  process.env[variable] = JSON.stringify({ ...projects(), [baseUrl]: project });
}

/** The Supabase project of a service; undefined where it has the local sign-in, as everywhere but in `npm run test:supabase`. */
export function projectOf(baseUrl: string): TestProject | undefined {
  return projects()[baseUrl];
}

/** A project of this process; undefined where everybody has the local sign-in. The projects of a run send by one mail server. */
export function anyProject(): TestProject | undefined {
  return Object.values(projects())[0];
}

function projects(): Record<string, TestProject> {
  return JSON.parse(process.env[variable] ?? "{}");
}

/** Creates an account whose address is confirmed, as an operator of a project can. @returns the user's id */
export async function createConfirmed(
  project: TestProject,
  email: string,
  password: string,
): Promise<string> {
  const { auth } = createClient(project.url, project.secretKey, {
    auth: { persistSession: false, autoRefreshToken: false },
    realtime: { transport: class {} as never },
  });
  const { data, error } = await auth.admin.createUser({ email, password, email_confirm: true });
  if (error) throw error;
  return data.user.id;
}

/** A mail that a project sent: its first link, its code, and its text as it was sent. */
export type SentMail = {
  recipient: string;
  subject: string;
  link: string | null;
  code: string | null;
  body: string;
};

/** The mails that a project sent to an address, the newest first. */
export async function projectMailsTo(project: TestProject, email: string): Promise<SentMail[]> {
  return (await fetch(`${project.mails}/?to=${encodeURIComponent(email.toLowerCase())}`)).json();
}
