import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { freePort } from "@/tests/helpers/free-port";
import type { HostedCluster, TestProject } from "@/tests/helpers/hosted-sign-in";
import { projectRoot } from "@/tests/helpers/project-root";
import { startGateway } from "./gateway";

/** The program of Supabase Auth. @throws Error that says how to get one */
export function authProgram(): string {
  const program = process.env.SUPABASE_AUTH_BIN;
  if (program && existsSync(program)) return program;
  const reason = program ? `there is no file ${program}` : "it is not set";
  throw new Error(
    `SUPABASE_AUTH_BIN names the program of Supabase Auth, and ${reason}: see docs/guides/test-with-supabase.md.`,
  );
}

/** Signs an API key of the older kind, which is a token of a role. */
export function signRole(role: string, secret: string): Promise<string> {
  return new SignJWT({ role, iss: "supabase" })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .setIssuedAt()
    .setExpirationTime("1h")
    .sign(new TextEncoder().encode(secret));
}

/** The present kind of user tokens, and the one of older projects. */
type Signing = "ES256" | "HS256";

/**
 * Starts Supabase Auth on a copy of the template database, with the sign-in settings of `supabase/config.toml`, and the gateway
 * of a project in front of it.
 * @param extra settings that differ, by their names in Supabase Auth
 */
export async function startProject(
  hosted: HostedCluster,
  database: { url: string },
  {
    signing = (process.env.OUTLAY_TEST_SIGNING as Signing | undefined) ?? "ES256",
    extra = {},
  }: { signing?: Signing; extra?: Record<string, string> } = {},
): Promise<TestProject & { stop(): Promise<void> }> {
  const secret = randomBytes(32).toString("hex");
  const keys = {
    publishableKey: `sb_publishable_${randomBytes(12).toString("hex")}`,
    secretKey: `sb_secret_${randomBytes(12).toString("hex")}`,
  };
  const port = await freePort();
  const gateway = await startGateway({
    port,
    tokens: new Map([
      [keys.publishableKey, await signRole("anon", secret)],
      [keys.secretKey, await signRole("service_role", secret)],
    ]),
    secretKey: keys.secretKey,
  });
  const authUrl = new URL(hosted.authUrl);
  authUrl.pathname = new URL(database.url).pathname;
  const env = {
    ...settingsOfAuth({ authUrl: authUrl.href, port, url: gateway.url, smtpPort: hosted.smtpPort }),
    GOTRUE_JWT_SECRET: secret,
    ...Object.fromEntries(
      ["CONFIRMATION", "RECOVERY", "MAGIC_LINK"].map((name) => [
        `GOTRUE_MAILER_TEMPLATES_${name}`,
        `${hosted.mails}/template`,
      ]),
    ),
    ...providersOf(hosted.identities, gateway.url),
    ...(signing === "ES256" && { GOTRUE_JWT_KEYS: JSON.stringify([await signingKey(), sharedKey(secret)]) }),
    ...extra,
  };
  const child = spawn(authProgram(), ["serve"], { env, stdio: ["ignore", "pipe", "pipe"] });
  process.once("exit", () => child.kill("SIGKILL"));
  await started(child, gateway.url, keys.publishableKey);
  return {
    url: gateway.url,
    mails: hosted.mails,
    smtpPort: hosted.smtpPort,
    ...keys,
    ...(signing === "HS256" && { jwtSecret: secret }),
    stop: async () => {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
      await gateway.stop();
    },
  };
}

/** What a project of Supabase sets for Supabase Auth. @param url the project's address */
export function settingsOfAuth({
  authUrl,
  port,
  url,
  smtpPort,
}: {
  authUrl: string;
  port: number;
  url: string;
  smtpPort: number;
}) {
  const path = "/auth/v1/verify";
  return {
    NODE_ENV: "test" as const,
    PATH: process.env.PATH ?? "",
    DATABASE_URL: authUrl,
    GOTRUE_DB_DRIVER: "postgres",
    GOTRUE_DB_MAX_POOL_SIZE: "10",
    GOTRUE_API_HOST: "127.0.0.1",
    PORT: String(port),
    API_EXTERNAL_URL: url,
    GOTRUE_SITE_URL: "http://127.0.0.1:3000",
    GOTRUE_URI_ALLOW_LIST: "http://127.0.0.1:*/**,http://localhost:*/**",
    GOTRUE_LOG_LEVEL: "warn",
    GOTRUE_JWT_SECRET: "a-secret-of-the-migrations-only-0123",
    GOTRUE_JWT_ISSUER: `${url}/auth/v1`,
    GOTRUE_JWT_EXP: "3600",
    GOTRUE_JWT_AUD: "authenticated",
    GOTRUE_JWT_DEFAULT_GROUP_NAME: "authenticated",
    GOTRUE_JWT_ADMIN_ROLES: "service_role",
    GOTRUE_PASSWORD_MIN_LENGTH: "8",
    GOTRUE_SECURITY_REFRESH_TOKEN_REUSE_INTERVAL: "10",
    GOTRUE_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION: "true",
    GOTRUE_SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD: "true",
    GOTRUE_SECURITY_SB_FORWARDED_FOR_ENABLED: "true",
    GOTRUE_MAILER_AUTOCONFIRM: "false",
    GOTRUE_MAILER_OTP_EXP: "3600",
    GOTRUE_MAILER_OTP_LENGTH: "6",
    GOTRUE_MAILER_URLPATHS_CONFIRMATION: path,
    GOTRUE_MAILER_URLPATHS_INVITE: path,
    GOTRUE_MAILER_URLPATHS_RECOVERY: path,
    GOTRUE_MAILER_URLPATHS_EMAIL_CHANGE: path,
    GOTRUE_SMTP_HOST: "127.0.0.1",
    GOTRUE_SMTP_PORT: String(smtpPort),
    GOTRUE_SMTP_ADMIN_EMAIL: "sign-in@example.com",
    // Tests ask for several mails to one address, and all from one address.
    GOTRUE_SMTP_MAX_FREQUENCY: "1ms",
    ...Object.fromEntries(
      ["EMAIL_SENT", "VERIFY", "TOKEN_REFRESH", "OTP"].map((name) => [`GOTRUE_RATE_LIMIT_${name}`, "100000"]),
    ),
  };
}

/** Sign-in with the run's own OpenID Connect server, and with GitHub, which no test opens. */
function providersOf({ url, secret }: HostedCluster["identities"], project: string): Record<string, string> {
  const settings = (name: string, of: Record<string, string>) =>
    Object.entries({ ENABLED: "true", REDIRECT_URI: `${project}/auth/v1/callback`, ...of }).map(
      ([key, value]): [string, string] => [`GOTRUE_EXTERNAL_${name}_${key}`, value],
    );
  return Object.fromEntries([
    ...settings("KEYCLOAK", { CLIENT_ID: "supabase", SECRET: secret, URL: url }),
    ...settings("GITHUB", { CLIENT_ID: "a-client", SECRET: "a-secret" }),
  ]);
}

async function signingKey() {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  return {
    ...(await exportJWK(privateKey)),
    kid: randomUUID(),
    alg: "ES256",
    use: "sig",
    key_ops: ["sign", "verify"],
  };
}

/** The secret of a project that had one before it had keys: API keys of the older kind are still signed with it. */
const sharedKey = (secret: string) => ({
  kty: "oct",
  k: Buffer.from(secret).toString("base64url"),
  kid: randomUUID(),
  alg: "HS256",
  key_ops: ["verify"],
});

/** Waits until Supabase Auth answers. @throws Error with its output where it ends before */
async function started(child: ChildProcess, url: string, apikey: string): Promise<void> {
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    if (stream) createInterface({ input: stream }).on("line", (line) => said.push(line));
  while (child.exitCode === null) {
    const answer = await fetch(`${url}/auth/v1/health`, { headers: { apikey } }).catch(() => undefined);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`Supabase Auth ended with ${child.exitCode}:\n${said.slice(-20).join("\n")}`);
}

/** The settings of a service that docs/deploy.md names for a Supabase project. */
export function settingsFor(project: TestProject): Record<string, string> {
  return {
    SUPABASE_URL: project.url,
    NEXT_PUBLIC_SUPABASE_PUBLISHABLE_KEY: project.publishableKey,
    SUPABASE_SECRET_KEY: project.secretKey,
    SMTP_URL: `smtp://127.0.0.1:${project.smtpPort}`,
    SMTP_FROM: "Outlay <alerts@example.com>",
    ...(project.jwtSecret && { SUPABASE_JWT_SECRET: project.jwtSecret }),
    POSTGRES_CA_CERT: readFileSync(join(projectRoot, "tests/fixtures/tls/authority.pem"), "utf8"),
  };
}
