import { Fixtures } from "@/tests/helpers/keys";
import { startService } from "@/tests/helpers/service";
import { type Contender, sessionCookie, signUp } from "../stage";
import { openHistory } from "./open";

/** A workspace to read: its slug, a key, the cursor of its 500th page of activity, and the rows of an export of `month`. */
export type ReadWorkspace = { slug: string; key: string; cursor: string; exportedRows: number };

/** A service on a filled history, and a member of both workspaces. `month`: the first and the last day of the last full month. */
export type ReadsStage = {
  service: Contender;
  postgresPid: () => number;
  token: string;
  /** The member's session, for pages. */
  cookie: string;
  month: { from: string; to: string };
  workspaces: Record<"large" | "small", ReadWorkspace>;
  stop(): Promise<void>;
};

/** The rows of a page of activity in the measurement of the 500th page. */
export const rowsAPage = 10;
const rowsBefore = 499 * rowsAPage;

/**
 * Starts a service on a history of a number of postings.
 * @param dataDir see `openHistory`
 * @param settings of the service
 */
export async function setReadsStage(
  postings: number,
  dataDir: string | undefined,
  settings: Record<string, string>,
  say: (line: string) => void,
): Promise<ReadsStage> {
  const opened: (() => unknown)[] = [];
  const stop = async () => {
    for (const close of opened.splice(0).reverse()) await close();
  };
  try {
    const { postgres, history, postings: filled, stop: close } = await openHistory(postings, dataDir, say);
    opened.push(close);
    say(`${filled} postings`);
    const service = await startService(postgres, settings);
    opened.push(() => service.stop());
    const fixtures = new Fixtures(postgres.adminUrl);
    opened.push(() => fixtures.close());
    const { user, ...session } = await signUp(service.baseUrl);
    const token = session.access_token;
    await fixtures.sql.query(
      `insert into public.workspace_members (workspace_id, user_id, role)
       select id, $1, 'admin' from public.workspaces where slug in ('large', 'small')`,
      [user.id],
    );
    const month = await lastFullMonth(fixtures);
    const open = async (name: "large" | "small"): Promise<ReadWorkspace> => {
      const { slug, key } = history[name];
      const cursor = await cursorOfPage(service.baseUrl, token, slug);
      return { slug, key, cursor, exportedRows: await countRows(fixtures, slug, month) };
    };
    return {
      service: { baseUrl: service.baseUrl, pid: service.process.pid ?? 0 },
      postgresPid: postgres.pid,
      token,
      cookie: sessionCookie(session),
      month,
      workspaces: { large: await open("large"), small: await open("small") },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function lastFullMonth({ sql }: Fixtures): Promise<ReadsStage["month"]> {
  const { rows } = await sql.query<ReadsStage["month"]>(
    `select (this_month - interval '1 month')::date::text as from, (this_month - interval '1 day')::date::text as to
     from (
       select date_trunc('month', max(created_at) at time zone 'UTC') as this_month from private.idempotency
     ) as history`,
  );
  const [month] = rows;
  if (!month) throw new Error("The history is empty.");
  return month;
}

async function countRows(
  { sql }: Fixtures,
  slug: string,
  { from, to }: ReadsStage["month"],
): Promise<number> {
  const { rows } = await sql.query<{ count: string }>(
    `select count(*) as count from public.messages
     where workspace_id = (select id from public.workspaces where slug = $1)
       and occurred_at >= $2::date and occurred_at < $3::date + 1`,
    [slug, from, to],
  );
  return Number(rows[0]?.count);
}

/** Reads pages of activity up to the 500th. @returns the cursor of the 500th page */
async function cursorOfPage(baseUrl: string, token: string, slug: string): Promise<string> {
  let cursor = "";
  for (let read = 0; read < rowsBefore; ) {
    const limit = Math.min(100, rowsBefore - read);
    const response = await fetch(
      `${baseUrl}/api/v1/workspaces/${slug}/activity?period=all&limit=${limit}${cursor && `&cursor=${cursor}`}`,
      { headers: { authorization: `Bearer ${token}` } },
    );
    const page: { count: number; next_cursor: string | null } = await response.json();
    if (!response.ok || page.next_cursor === null) throw new Error(`${slug} has too few rows: ${read}`);
    read += page.count;
    cursor = encodeURIComponent(page.next_cursor);
  }
  return cursor;
}
