import { randomUUID } from "node:crypto";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { createLocalUser } from "@/lib/access/sign-in/local/account-queries";
import { readCurrentUser, readMembership } from "@/lib/access/workspaces/service";
import { asUser, type UserClaims } from "@/lib/db/transaction";
import { connectService } from "@/tests/helpers/connect-service";
import type { TestDatabase } from "@/tests/helpers/database";
import type { Fixtures } from "@/tests/helpers/keys";
import { withDatabase } from "@/tests/helpers/with-database";

let database: TestDatabase;
let fixtures: Fixtures;
let service: pg.Client;

withDatabase((open) => {
  ({ database, fixtures, service } = open);
});
connectService(() => database);

const password = "correct horse battery";
const claimsOf = (sub: string): UserClaims => ({
  sub,
  role: "authenticated",
  session_id: randomUUID(),
  email: "",
});
const create = async (email: string, displayName?: string) =>
  claimsOf(await createLocalUser(service, { email, password, ...(displayName && { displayName }) }));

describe("Sign-up", () => {
  test("Creates a profile and a personal workspace that the user owns", async () => {
    const claims = await create("Grace.Hopper@example.com", "Grace Hopper");
    const { user, profile, workspaces } = await readCurrentUser(claims);
    expect(user).toEqual({ id: claims.sub, email: "grace.hopper@example.com" });
    expect(profile).toEqual({
      id: claims.sub,
      email: user.email,
      display_name: "Grace Hopper",
      avatar_url: null,
      default_workspace_id: workspaces[0]?.id,
      locale: null,
      shown_currency: "usd",
    });
    expect(workspaces).toEqual([
      {
        id: expect.any(String),
        name: "Grace Hopper's workspace",
        slug: "grace-hopper",
        type: "personal",
        description: null,
        require_mfa: false,
        base_currency: "USD",
        time_zone: "UTC",
        next_time_zone: null,
        role: "owner",
      },
    ]);
  });

  test.each([
    ["api@example.com", /^api-[0-9a-f]{4}$/],
    ["demo@example.com", /^demo-[0-9a-f]{4}$/],
    ["sign.in@example.com", /^sign-in-[0-9a-f]{4}$/],
    ["_+_@example.com", /^workspace$/],
    ["Zoë@example.com", /^zo$/],
    [`${"long-".repeat(12)}x@example.com`, /^(long-)+lon$/],
  ])("Of %s gets a valid slug that is not a page's", async (email, slug) => {
    const { workspaces } = await readCurrentUser(await create(email));
    expect(workspaces[0]?.slug).toMatch(slug);
    expect(workspaces[0]?.slug).toMatch(/^[a-z0-9][a-z0-9-]{0,62}$/);
  });

  test("Gives each of many users with one name a workspace", async () => {
    const pool = new pg.Pool({ connectionString: database.url, max: 8 });
    const ids = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        createLocalUser(pool, { email: `twin@host${index}.example`, password }),
      ),
    );
    await pool.end();
    const slugs = await Promise.all(
      ids.map(async (id) => (await readCurrentUser(claimsOf(id))).workspaces.map(({ slug }) => slug).join()),
    );
    expect(new Set(slugs).size).toBe(8);
    expect(slugs).toContain("twin");
  });

  test("Refuses a picture that is not from the web and an empty name", async () => {
    const insert = async (data: object) => {
      const id = randomUUID();
      await fixtures.sql.query(
        "insert into auth.users (id, email, raw_user_meta_data, aud, role) values ($1, $2, $3, 'authenticated', 'authenticated')",
        [id, `${id}@example.com`, data],
      );
      return (await readCurrentUser(claimsOf(id))).profile;
    };
    expect(await insert({ avatar_url: "javascript:alert(1)", display_name: "  " })).toMatchObject({
      avatar_url: null,
      display_name: null,
    });
    const { avatar_url, display_name } = await insert({
      avatar_url: "https://example.com/a.png",
      full_name: "x".repeat(300),
    });
    expect(avatar_url).toBe("https://example.com/a.png");
    expect(display_name).toHaveLength(120);
  });

  test("Leaves an existing account unchanged", async () => {
    const first = await create("again@example.com");
    expect(await createLocalUser(service, { email: "AGAIN@example.com", password: "another" })).toBe(
      first.sub,
    );
    const checked = await service.query("select local_auth.check_password('again@example.com', $1) as id", [
      password,
    ]);
    expect(checked.rows[0].id).toBe(first.sub);
  });

  test("Hashes passwords by bcrypt with the work that unknown addresses cost too", async () => {
    const { sub } = await create("hashed@example.com");
    const { rows } = await fixtures.sql.query(
      `select u.encrypted_password as stored, prosrc as source
       from auth.users as u, pg_proc where u.id = $1 and proname = 'check_password'`,
      [sub],
    );
    expect(rows[0].stored).toMatch(/^\$2a\$10\$/);
    expect(rows[0].source).toMatch(/coalesce\(kept, '\$2a\$10\$/);
  });

  test("Without an address waits for one", async () => {
    const id = randomUUID();
    await fixtures.sql.query("insert into auth.users (id, phone) values ($1, $2)", [id, id]);
    await expect(readCurrentUser(claimsOf(id))).rejects.toMatchObject({ code: "invalid_credentials" });
    await fixtures.sql.query("update auth.users set email = 'late@example.com' where id = $1", [id]);
    expect((await readCurrentUser(claimsOf(id))).workspaces[0]?.slug).toBe("late");
  });
});

test("Copies a changed address to the profile", async () => {
  const claims = await create("before@example.com");
  await fixtures.sql.query("update auth.users set email = 'after@example.com' where id = $1", [claims.sub]);
  const { user, workspaces } = await readCurrentUser(claims);
  expect(user.email).toBe("after@example.com");
  expect(workspaces).toHaveLength(1);
});

test("Reserves the demo's slug and the pages' names", async () => {
  const add = (slug: string, type: string) =>
    fixtures.sql.query("insert into public.workspaces (slug, name, type) values ($1, 'X', $2)", [slug, type]);
  await expect(add("demo", "team")).rejects.toMatchObject({ code: "23514" });
  await expect(add("docs", "team")).rejects.toMatchObject({ code: "23514" });
  await add("demo", "demo");
});

describe("A user", () => {
  test("Sees nothing of a workspace they do not belong to", async () => {
    const [mine, theirs] = [await create("mine@example.com"), await create("theirs@example.com")];
    const [other] = (await readCurrentUser(theirs)).workspaces;
    if (!other) throw new Error("Sign-up made no workspace.");
    const project = await fixtures.project(other.id, "secret-project");
    await fixtures.key(other.id);
    await fixtures.sql.query(
      "insert into public.budgets (workspace_id, name, scope_type, amount) values ($1, 'B', 'global', 1)",
      [other.id],
    );
    await fixtures.sql.query("select private.ensure_messages_month(now())");
    const message = {
      workspace_id: other.id,
      id: randomUUID(),
      occurred_at: new Date(),
      created_at: new Date(),
      project_id: project,
      type: "usage",
      source: "api",
      environment: "live",
      amount_usd: "1",
      cost_status: "client",
    };
    await fixtures.sql.query("select private.store_messages('[]', $1, '[]')", [JSON.stringify([message])]);
    const count = (claims: UserClaims) =>
      asUser(claims, async (client) => {
        const { rows } = await client.query(
          `select
            (select count(*)::int from public.workspaces where id = $1) as workspaces,
            (select count(*)::int from public.workspace_members where workspace_id = $1) as members,
            (select count(*)::int from public.profiles where id = $2) as profiles,
            (select count(*)::int from public.projects where workspace_id = $1) as projects,
            (select count(*)::int from public.api_keys where workspace_id = $1) as keys,
            (select count(*)::int from public.budgets where workspace_id = $1) as budgets,
            (select count(*)::int from public.messages where workspace_id = $1) as messages,
            (select count(*)::int from public.daily_spend where workspace_id = $1) as days`,
          [other.id, theirs.sub],
        );
        return Object.values(rows[0]);
      });
    expect(await count(theirs)).toEqual([1, 1, 1, 1, 1, 1, 1, 1]);
    expect(await count(mine)).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
    await expect(readMembership(mine, other.slug)).rejects.toMatchObject({ code: "not_found" });
    expect(await readMembership(theirs, other.slug)).toMatchObject({ id: other.id, role: "owner" });
  });

  test("Leaves no claims on the connection", async () => {
    const claims = await create("passing@example.com");
    const whoAmI =
      "select current_user as role, nullif(current_setting('request.jwt.claims', true), '') as claims";
    await asUser(claims, async (client) => {
      expect((await client.query(whoAmI)).rows[0].role).toBe("authenticated");
      await expect(client.query("savepoint a; select from auth.users")).rejects.toThrow(/permission denied/);
    }).catch(() => {});
    for (let use = 0; use < 3; use += 1) {
      const { rows } = await asUser(claimsOf(randomUUID()), (client) =>
        client.query(
          "select (current_setting('request.jwt.claims', true)::jsonb) ->> 'sub' as sub, (select count(*)::int from public.profiles) as profiles",
        ),
      );
      expect(rows[0].sub).not.toBe(claims.sub);
      expect(rows[0].profiles).toBe(0);
    }
  });
});

describe("The local sign-in's own data", () => {
  const tables = ["signing_key", "outbox", "mail_tokens", "auth_codes", "taken_steps", "recovery_codes"];

  test.each(["outlay_service", "anon", "authenticated", "outlay_key", "service_role"])(
    "Cannot be read by %s in any table of it or of auth",
    async (role) => {
      const superuser = new pg.Client({ connectionString: database.superuserUrl });
      await superuser.connect();
      try {
        for (const table of [
          ...tables.map((name) => `local_auth.${name}`),
          ...["users", "sessions", "refresh_tokens", "mfa_factors", "mfa_challenges"].map(
            (name) => `auth.${name}`,
          ),
        ]) {
          await superuser.query(`begin; set local role ${role}`);
          await expect(superuser.query(`select from ${table}`), table).rejects.toMatchObject({
            code: "42501",
          });
          await superuser.query("rollback");
        }
      } finally {
        await superuser.end();
      }
    },
  );

  test("Has functions that only the service may run, each with an empty search_path, none as a superuser", async () => {
    const { rows } = await fixtures.sql.query(`
      select p.proname as name
      from pg_proc as p join pg_roles as owner on owner.oid = p.proowner
      where p.pronamespace = 'local_auth'::regnamespace and (
        owner.rolsuper or not coalesce(p.proconfig::text like '%search_path=%', false)
        or has_function_privilege('anon', p.oid, 'execute') or has_function_privilege('authenticated', p.oid, 'execute')
      )`);
    expect(rows).toEqual([]);
    await expect(service.query("select local_auth.describe_user($1)", [randomUUID()])).rejects.toThrow(
      /permission denied/,
    );
  });
});
