import { randomUUID } from "node:crypto";
import pg from "pg";
import { generateSecret, hashSecret, secretHint } from "@/lib/access/secrets/secret";

/** Settings of a test key that differ from the defaults: all permissions, live, no limits. */
export type KeyOptions = {
  permissions?: string[];
  project_id?: string;
  conditions?: Record<string, unknown>;
  monthly_limit?: string;
  expires_at?: string;
  rate_limit_rpm?: number;
  allowed_cidrs?: string[];
  environment?: "live" | "test";
  revoked_at?: string;
};

/** Creates workspaces and keys in a test's database, as its owner. */
export class Fixtures {
  readonly sql: pg.Pool;
  /** The ids of the workspaces that were created here. */
  readonly workspaces: string[] = [];
  /** Whether other files of tests use the same database. */
  readonly isShared: boolean;

  constructor(adminUrl: string, { isShared = false } = {}) {
    this.isShared = isShared;
    this.sql = new pg.Pool({ connectionString: adminUrl, max: 4 });
    // Postgres may end an idle connection, also while `end()` closes it. The next statement would fail by itself.
    this.sql.on("error", () => {});
  }

  async workspace(slug = `w-${randomUUID()}`): Promise<string> {
    const { rows } = await this.sql.query(
      "insert into public.workspaces (slug, name) values ($1, $1) returning id",
      [slug],
    );
    this.workspaces.push(rows[0].id);
    return rows[0].id;
  }

  async project(workspaceId: string, slug: string): Promise<string> {
    const { rows } = await this.sql.query(
      "insert into public.projects (workspace_id, slug, name) values ($1, $2, $2) returning id",
      [workspaceId, slug],
    );
    return rows[0].id;
  }

  async key(
    workspaceId: string,
    options: KeyOptions = {},
    secret = generateSecret(),
  ): Promise<{ id: string; secret: string }> {
    const { prefix, last_four } = secretHint(secret);
    const { permissions = ["log_usage", "add_expenses", "manage_subscriptions", "read_summaries"], ...rest } =
      options;
    const columns = { workspace_id: workspaceId, name: "Test key", prefix, last_four, permissions, ...rest };
    const names = Object.keys(columns);
    const { rows } = await this.sql.query(
      `insert into public.api_keys (${names.join(", ")}) values (${names.map((_, index) => `$${index + 1}`).join(", ")}) returning id`,
      Object.values(columns),
    );
    await this.sql.query(
      "insert into private.api_key_secrets (api_key_id, hash) values ($1, decode($2, 'hex'))",
      [rows[0].id, hashSecret(secret)],
    );
    return { id: rows[0].id, secret };
  }

  async close(): Promise<void> {
    await this.sql.end();
  }
}
