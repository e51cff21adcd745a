import { availableParallelism } from "node:os";
import { z } from "zod";

const flag = z
  .enum(["true", "false", "1", "0", ""])
  .transform((value) => value === "true" || value === "1")
  .default(false);

const url = (...protocols: string[]) =>
  z.string().refine((value) => URL.canParse(value) && protocols.includes(new URL(value).protocol), {
    error: `must be a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`,
  });

const list = z
  .string()
  .default("")
  .transform((value) =>
    value
      .split(",")
      .map((item) => item.trim())
      .filter(Boolean),
  );

const hostName = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/;

/** Host names, in lower case for comparison. */
const hostNames = list
  .transform((names) => names.map((name) => name.toLowerCase()))
  .refine((names) => names.every((name) => hostName.test(name)), {
    error: "must be host names separated by commas, without scheme, port or path (outlay.example.com)",
  });

const addressRange = /^[\da-f.:]+\/\d{1,3}$|^[\da-f]*:[\da-f.:]*$/;

/** Host names, IP addresses and CIDR ranges, in lower case. */
const hostsAndRanges = list
  .transform((items) => items.map((item) => item.toLowerCase()))
  .refine((items) => items.every((item) => hostName.test(item) || addressRange.test(item)), {
    error:
      "must be host names, addresses or CIDR ranges separated by commas, without scheme or port (hooks.internal, 10.0.0.0/8)",
  });

/** URLs of files to fetch, separated by commas; none for `off`. */
const feed = (...addresses: string[]) =>
  z
    .string()
    .default(addresses.join(","))
    .transform((value) => (value === "off" ? [] : value.split(",").map((each) => each.trim())))
    .refine((urls) => urls.every((each) => /^https?:\/\//.test(each) && URL.canParse(each)), {
      error: "must be off, or URLs separated by commas that begin with https:// or http://",
    });

/** Keys of 32 bytes in base64, separated by commas. */
const sealingKeys = list.refine(
  (keys) => keys.every((key) => /^[\w+/-]{42,43}=?$/.test(key) && Buffer.from(key, "base64").length === 32),
  { error: "must be keys of 32 bytes in base64, separated by commas (openssl rand -base64 32)" },
);

/** URLs that replace those of providers: `provider=URL`, separated by commas, or `off`. */
const providerUrls = list
  .transform((items) => items.map((item) => item.split(/=(.*)/s).slice(0, 2)))
  .refine(
    (pairs) =>
      pairs.every(([name = "", url]) =>
        url === undefined ? name === "off" : /^https?:\/\//.test(url) && URL.canParse(url),
      ),
    {
      error:
        "must be off, or addresses by provider, separated by commas (openai=https://gateway.example.com)",
    },
  )
  .transform((pairs) => ({
    isOff: pairs.some(([name]) => name === "off"),
    urls: new Map(pairs.map(([name = "", url = ""]) => [name, url.replace(/\/+$/, "")])),
  }));

/** More would need more connections than a Postgres has. */
const maxWorkers = 64;

const workers = z
  .string()
  .refine((value) => value === "auto" || (/^\d{1,2}$/.test(value) && +value >= 1 && +value <= maxWorkers), {
    error: `must be a whole number from 1 to ${maxWorkers}, or auto (one worker for each processor)`,
  })
  .default("1")
  .transform((value) => (value === "auto" ? Math.min(availableParallelism(), maxWorkers) : Number(value)));

const keptDays = (byDefault: number) => z.coerce.number().int().min(90).max(36_500).default(byDefault);

const schema = z.object({
  NODE_ENV: z.enum(["development", "production", "test"]).default("development"),
  LOG_LEVEL: z.enum(["fatal", "error", "warn", "info", "debug", "trace", "silent"]).default("info"),
  /** Port of the self-hosted server; 0 lets the system choose. */
  PORT: z.coerce.number().int().min(0).max(65_535).default(3000),
  /** Address the self-hosted server listens on. */
  HOST: z.string().default("127.0.0.1"),
  /** How many worker processes of the self-hosted server answer requests. */
  WEB_CONCURRENCY: workers,
  /** After how many seconds a worker with a blocked event loop is killed and started again; 0 for never. */
  OUTLAY_STALL_SECONDS: z.coerce.number().min(0).max(3600).default(30),
  /** The number of this worker, from 1. The service sets it for its workers; it is not a setting for users. */
  OUTLAY_WORKER: z.coerce.number().int().min(1).max(maxWorkers).optional(),
  /** The folder of the embedded database and its secrets. */
  OUTLAY_DATA_DIR: z.string().min(1).default(".outlay"),
  /** `off` serves every route through Next, as on a platform without the self-hosted server. */
  OUTLAY_FAST_LANE: z.enum(["on", "off"]).default("on"),
  /** `off` serves the API, sign-in, OAuth and the agent tools without the dashboard, and starts without Next and its build. */
  OUTLAY_PAGES: z.enum(["on", "off"]).default("on"),
  /** `off` runs no background jobs in this process, where another process or a scheduler (`GET /api/jobs`) runs them. */
  OUTLAY_JOBS: z.enum(["on", "off"]).default("on"),
  /** The service's public address, without a trailing slash. */
  BASE_URL: url("http:", "https:").optional(),
  /** The address of the agent tools, if it is not /api/mcp of the service's own address. */
  MCP_URL: url("http:", "https:").optional(),
  /** Origins of pages that may call the agent tools, besides the service's own and this machine's. */
  MCP_ALLOWED_ORIGINS: list,
  /** Host names that the service answers, besides those of the addresses in these settings and of this machine. */
  ALLOWED_HOSTS: hostNames,
  /** `off` fetches no client documents (CIMD), so that clients must register. */
  OAUTH_CLIENT_DOCUMENTS: z.enum(["on", "off"]).default("on"),
  POSTGRES_URL: url("postgres:", "postgresql:").optional(),
  DATABASE_URL: url("postgres:", "postgresql:").optional(),
  /** A direct connection, for migrations and maintenance. */
  POSTGRES_URL_NON_POOLING: url("postgres:", "postgresql:").optional(),
  /** A streaming replica of the database. It serves the reads of users, once it has replayed all earlier commits. */
  POSTGRES_READ_URL: url("postgres:", "postgresql:").optional(),
  /**
   * The certificate (PEM) of the authority that signed the database's certificate, if the system does not know it.
   */
  POSTGRES_CA_CERT: z
    .string()
    .includes("BEGIN CERTIFICATE", "must be a certificate in PEM")
    .transform((pem) => pem.replaceAll("\\n", "\n"))
    .optional(),
  /** The most connections that a process opens; each worker is a process. */
  POSTGRES_POOL_SIZE: z.coerce.number().int().min(4).max(200).default(10),
  /**
   * How many of the connections are for reads: dashboards, summaries, exports. One is for health checks, the others are for recording.
   */
  POSTGRES_READ_POOL_SIZE: z.coerce.number().int().min(1).optional(),
  /** Addresses (CIDR) of the reverse proxies whose X-Forwarded-For is trusted. */
  TRUSTED_PROXIES: list,
  SVC_API_KEY: z.string().min(16, "must have at least 16 characters").optional(),
  /** Only `true` allows the environment key in production. */
  SVC_ALLOW_ENV_API_KEY: z
    .string()
    .optional()
    .transform((value) => value === "true"),
  /** The secret that a scheduler sends to `/api/jobs`, on platforms without the self-hosted server. */
  CRON_SECRET: z.string().min(16, "must have at least 16 characters").optional(),
  /** The token that a monitoring program sends to read `/metrics`. */
  METRICS_TOKEN: z
    .string()
    .regex(/^\S{16,}$/, "must have at least 16 characters and no spaces")
    .optional(),
  /** Where traces are sent (OpenTelemetry's own setting; its SDK reads the others itself). */
  OTEL_EXPORTER_OTLP_ENDPOINT: url("http:", "https:").optional(),
  OTEL_TRACES_SAMPLER: z.string().optional(),
  /** The service's address for clients on this machine (the import, the local agent tools). */
  SVC_BASE_URL: url("http:", "https:").optional(),
  SUPABASE_URL: url("http:", "https:").optional(),
  NEXT_PUBLIC_SUPABASE_URL: url("http:", "https:").optional(),
  SUPABASE_PUBLISHABLE_KEY: z.string().optional(),
  NEXT_PUBLIC_SUPABASE_PUBLISHABLE_KEY: z.string().optional(),
  NEXT_PUBLIC_SUPABASE_ANON_KEY: z.string().optional(),
  /** The project's secret key (`sb_secret_…`). With it, the project counts attempts by the caller's address, not by the service's. */
  SUPABASE_SECRET_KEY: z.string().optional(),
  /** Only for projects that still sign user tokens with a shared secret (HS256). */
  SUPABASE_JWT_SECRET: z.string().min(32, "must have at least 32 characters").optional(),
  /** Who may read the mails of the local sign-in: everybody with the link that a start prints, everybody, or nobody. */
  OUTLAY_OUTBOX: z.enum(["link", "everyone", "off"]).default("link"),
  /** Origins of pages that may use the local sign-in, besides the service's own and this machine's; `*` for any. */
  AUTH_ALLOWED_ORIGINS: list,
  /** Targets of links in the local sign-in's mails, besides this service and this machine: patterns with `*`. */
  AUTH_REDIRECT_URLS: list,
  /** How often one account may sign in with its password in any 15 minutes. */
  AUTH_SIGN_IN_LIMIT: z.coerce.number().int().min(1).max(100_000).default(60),
  /** The mail server that sends alerts. Without it, they are put into the local outbox. */
  SMTP_URL: url("smtp:", "smtps:").optional(),
  /** The sender of these mails: an address, or a name with an address. */
  SMTP_FROM: z
    .string()
    .regex(
      /^[^<>\r\n]*<[^<>@\s]+@[^<>@\s]+>$|^[^<>@\s]+@[^<>@\s]+$/,
      "must be an address, like Outlay <alerts@example.com>",
    )
    .optional(),
  /** Hosts of alerts and feeds that may have internal addresses or use plain http: names, addresses, CIDR ranges. */
  ALERT_ALLOWED_HOSTS: hostsAndRanges,
  /** Hosts, addresses and ranges of stores that may be internal, for folders of exports, with http, too. */
  BUCKET_HOSTS: hostsAndRanges,
  /**
   * Keys that encrypt the admin keys of providers in the database. The first one encrypts, all of them decrypt. An embedded database has
   * another key in its data folder.
   */
  SEALING_KEYS: sealingKeys,
  /** URLs from which costs are pulled, instead of the providers' own; `off` pulls nothing. */
  PROVIDER_URLS: providerUrls,
  /** URLs of exchange rates, the preferred source first; `off` fetches none. */
  RATES_URL: feed(
    "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-hist-90d.xml",
    "https://cdn.jsdelivr.net/npm/@fawazahmed0/currency-api@latest/v1/currencies/usd.json",
  ),
  /** The URL of prices of models, a file in the format of genai-prices; `off` fetches none. */
  PRICES_URL: feed(
    "https://raw.githubusercontent.com/pydantic/genai-prices/main/prices/new_data/v2/data.json",
  ),
  VERCEL: flag,
  /** How many days idempotency keys are kept. A later retry is recorded again. The next settings are for other records. */
  IDEMPOTENCY_KEY_DAYS: keptDays(730),
  ALERT_DAYS: keptDays(730),
  AUDIT_LOG_DAYS: keptDays(1_095),
  REPRICING_DAYS: keptDays(365),
  VERCEL_ENV: z.string().optional(),
  VERCEL_URL: z.string().optional(),
  VERCEL_BRANCH_URL: z.string().optional(),
  VERCEL_PROJECT_PRODUCTION_URL: z.string().optional(),
});

/** The settings of this process, parsed; see `.env.example` for what each one does. */
export type Env = z.output<typeof schema>;

/** Invalid settings. The message names every bad variable and what it should be. */
export class EnvError extends Error {
  override name = "EnvError";
}

/**
 * Parses settings. An empty variable counts as unset, because hosting dashboards and `.env` files leave such
 * variables.
 * @throws EnvError naming each bad variable
 */
export function parseEnv(source: Record<string, string | undefined>): Env {
  const set = Object.fromEntries(
    Object.entries(source).filter(([, value]) => value !== undefined && value !== ""),
  );
  const parsed = schema.safeParse(set);
  const problems = parsed.success ? findConflicts(parsed.data) : parsed.error.issues;
  if (parsed.success && problems.length === 0) return parsed.data;
  const lines = problems.map(({ path, message }) => `  ${path.join(".")}: ${message}`);
  throw new EnvError(`The environment has settings that cannot be used:\n${lines.join("\n")}`);
}

/** Checks settings that need or exclude one another. */
function findConflicts(settings: Env): { path: PropertyKey[]; message: string }[] {
  const problems: { path: PropertyKey[]; message: string }[] = [];
  const { POSTGRES_POOL_SIZE: all, POSTGRES_READ_POOL_SIZE: reading = 1 } = settings;
  if (reading > all - 3) {
    const message = `must be at most ${all - 3}: of POSTGRES_POOL_SIZE (${all}), two at least are for recording, and one for health`;
    problems.push({ path: ["POSTGRES_READ_POOL_SIZE"], message });
  }
  if (settings.POSTGRES_READ_URL && !postgresUrl(settings)) {
    const message = "is the replica of POSTGRES_URL, which is not set";
    problems.push({ path: ["POSTGRES_READ_URL"], message });
  }
  if (settings.OUTLAY_PAGES === "off" && settings.OUTLAY_FAST_LANE === "off") {
    const message = "cannot be off where OUTLAY_FAST_LANE is: Next serves every route then";
    problems.push({ path: ["OUTLAY_PAGES"], message });
  }
  if (settings.SMTP_URL && !settings.SMTP_FROM) {
    const message = "is needed beside SMTP_URL: the sender of the mails";
    problems.push({ path: ["SMTP_FROM"], message });
  }
  const url = settings.SUPABASE_URL ?? settings.NEXT_PUBLIC_SUPABASE_URL;
  if (url && !publishableKeyOf(settings)) {
    const message = "is needed beside SUPABASE_URL; the project's settings show it";
    problems.push({ path: ["NEXT_PUBLIC_SUPABASE_PUBLISHABLE_KEY"], message });
  }
  return problems;
}

function publishableKeyOf(settings: Env): string | undefined {
  return (
    settings.SUPABASE_PUBLISHABLE_KEY ??
    settings.NEXT_PUBLIC_SUPABASE_PUBLISHABLE_KEY ??
    settings.NEXT_PUBLIC_SUPABASE_ANON_KEY
  );
}

let cached: Env | undefined;

/** The settings of this process. Read on first use, so that a build needs none. @throws EnvError */
export function env(): Env {
  // biome-ignore lint/style/noProcessEnv: this file is the only one that reads it.
  cached ??= parseEnv(process.env);
  return cached;
}

/**
 * The number of processes of this service that share the machine: its workers, or 1 if there are none. A limit for the whole machine is
 * divided by it.
 */
export function processCount({ OUTLAY_WORKER, WEB_CONCURRENCY }: Env = env()): number {
  return OUTLAY_WORKER === undefined ? 1 : WEB_CONCURRENCY;
}

/** The number of this worker if there are several, to distinguish their log lines and metrics. */
export function workerNumber({ OUTLAY_WORKER, WEB_CONCURRENCY }: Env = env()): number | undefined {
  return WEB_CONCURRENCY === 1 ? undefined : OUTLAY_WORKER;
}

/** The unparsed settings of the local agent tools, which `lib/mcp/stdio` checks itself. */
export function localToolSettings(): Pick<NodeJS.ProcessEnv, "SVC_API_KEY" | "SVC_BASE_URL"> {
  // biome-ignore lint/style/noProcessEnv: in this file, too, because the local tools do not have the service's settings.
  const { SVC_API_KEY, SVC_BASE_URL } = process.env;
  return { SVC_API_KEY, SVC_BASE_URL };
}

/** The Postgres address of the service, or undefined for the embedded database. */
export function postgresUrl(settings: Env = env()): string | undefined {
  return settings.POSTGRES_URL ?? settings.DATABASE_URL;
}

/** A Supabase project: its address without a trailing slash, and its keys. */
export type SupabaseProject = { url: string; publishableKey: string; secretKey?: string | undefined };

/** The Supabase project that signs people in, or undefined for the local sign-in. */
export function supabaseProject(settings: Env = env()): SupabaseProject | undefined {
  const url = settings.SUPABASE_URL ?? settings.NEXT_PUBLIC_SUPABASE_URL;
  const [publishableKey, secretKey] = [publishableKeyOf(settings), settings.SUPABASE_SECRET_KEY];
  return url && publishableKey ? { url: url.replace(/\/+$/, ""), publishableKey, secretKey } : undefined;
}
