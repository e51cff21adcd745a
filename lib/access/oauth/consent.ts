import { hashSecret } from "@/lib/access/secrets/secret";
import { generateToken } from "@/lib/access/secrets/token";
import { requireMembership } from "@/lib/access/workspaces/membership";
import { readCurrentUser } from "@/lib/access/workspaces/service";
import type { WorkspaceRole } from "@/lib/contract/access/me";
import { type Permission, permissionsOf } from "@/lib/contract/access/permissions";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { positiveDecimal } from "@/lib/contract/values/fields";
import { asUser, type UserClaims } from "@/lib/db/transaction";
import { ServiceError } from "@/lib/errors";
import { issuerAt } from "./addresses";
import { type AuthorizationRequest, refusalTo } from "./authorize";
import {
  type Answerer,
  answerQuestion,
  askQuestion,
  type Client,
  openQuestion,
  selectChoosableProjects,
  selectConnections,
} from "./oauth-queries";
import { answerTo } from "./redirects";
import { grantable } from "./scopes";

/** A workspace that the user can connect a program to, and the permissions they can give there. */
export type ConsentWorkspace = {
  slug: string;
  name: string;
  role: WorkspaceRole;
  grantable: readonly Permission[];
  projects: { slug: string; name: string }[];
  /** The program's present permissions there. The answer replaces all of them. */
  current: { permissions: Permission[]; project: string | null; monthlyLimit: string | null } | null;
};

/** What the consent page shows, and the nonce of its form. */
export type Consent = {
  nonce: string;
  email: string;
  client: { name: string; host: string | null; redirectHost: string };
  wanted: Permission[];
  workspaces: ConsentWorkspace[];
};

/**
 * Why an answer was refused. `stale`: the request expired or belongs to another session. `choice`: the chosen workspace,
 * project or permissions are not available.
 */
export type ConsentProblem = "stale" | "choice";

/**
 * Stores the consent request and returns what the page shows.
 * @param lastUsed the slug of the workspace that the user used last, if it is known
 * @throws ServiceError invalid_credentials if the account was deleted
 */
export async function askConsent(
  claims: UserClaims,
  request: AuthorizationRequest,
  lastUsed: string | undefined,
): Promise<Consent> {
  const { client, redirectUri, state, codeChallenge, resource, wanted } = request;
  const { user, workspaces } = await readCurrentUser(claims);
  const choices = await asUser(claims, async (db) => {
    const listed: ConsentWorkspace[] = [];
    for (const { id, slug, name, role } of workspaces) {
      const [known] = await selectConnections(db, id, { userId: claims.sub, clientId: client.id });
      listed.push({
        slug,
        name,
        role,
        grantable: permissionsOf(role),
        projects: (await selectChoosableProjects(db, id)).map((project) => ({
          slug: project.slug,
          name: project.name,
        })),
        current: known
          ? {
              permissions: known.permissions,
              project: known.project_slug,
              monthlyLimit: known.monthly_limit,
            }
          : null,
      });
    }
    return listed;
  });
  const nonce = generateToken();
  await askQuestion({
    ...answererOf(claims, nonce),
    client_id: client.id,
    redirect_uri: redirectUri,
    state,
    code_challenge: codeChallenge,
    resource,
    wanted,
  });
  return {
    nonce,
    email: user.email,
    client: {
      name: client.name,
      host: vouchingHost(client),
      redirectHost: shownRedirect(redirectUri),
    },
    wanted,
    workspaces: choices.sort((a, b) => precedence(b, lastUsed) - precedence(a, lastUsed)),
  };
}

/** How early a workspace is listed. The first one is proposed: one that is connected already, otherwise the one that was used last. */
const precedence = ({ slug, current }: ConsentWorkspace, lastUsed: string | undefined) =>
  2 * Number(current !== null) + Number(slug === lastUsed);

/**
 * Processes the form's answer. The request is read from the database, so the form cannot change it. Only the session
 * that was asked can answer, and only once.
 * @param host the Host header
 * @returns where the browser goes: back to the client, with a code or with `access_denied`; or why the answer was
 *   refused
 */
export async function decideConsent(
  claims: UserClaims,
  form: URLSearchParams,
  host: string | null,
): Promise<{ location: string } | { problem: ConsentProblem }> {
  const by = answererOf(claims, form.get("nonce") ?? "");
  const question = await openQuestion(by);
  if (!question) return { problem: "stale" };
  const { redirect_uri: redirectUri, state } = question;
  if (form.get("decision") !== "allow") {
    if (!(await answerQuestion(by, null))) return { problem: "stale" };
    return {
      location: refusalTo(redirectUri, state, "access_denied", "The user denied the request.", host),
    };
  }
  const choice = await readChoice(claims, form, question.wanted);
  if (!choice) return { problem: "choice" };
  const code = generateToken();
  if (!(await answerQuestion(by, { code: hashSecret(code), ...choice }))) return { problem: "stale" };
  return { location: answerTo(redirectUri, { code, state, iss: issuerAt(host) }) };
}

/**
 * The user's choice, limited to what the client requested and what the user may grant; undefined if it is invalid.
 * @param wanted what the client requested
 */
async function readChoice(claims: UserClaims, form: URLSearchParams, wanted: readonly Permission[]) {
  const limit = parseLimit(form.get("monthly_limit") ?? "");
  if (limit === undefined) return undefined;
  try {
    return await asUser(claims, async (db) => {
      const { id, role } = await requireMembership(db, claims, form.get("workspace") ?? "");
      const ticked = form.getAll("permission");
      const permissions = grantable(
        wanted.filter((permission) => ticked.includes(permission)),
        role,
      );
      const slug = form.get("project") ?? "";
      const project = slug
        ? (await selectChoosableProjects(db, id)).find((each) => each.slug === slug)
        : null;
      if (permissions.length === 0 || project === undefined) return undefined;
      return {
        workspace_id: id,
        permissions,
        project_id: project?.id ?? null,
        monthly_limit: limit,
      };
    });
  } catch (error) {
    if (error instanceof ServiceError && error.status < 500) return undefined;
    throw error;
  }
}

/** The limit as exact text; null if the field is empty, undefined if it is not a valid amount. */
function parseLimit(typed: string): string | null | undefined {
  const text = typed.trim();
  if (text === "") return null;
  if (!/^\d{1,15}(\.\d{1,18})?$/.test(text)) return undefined;
  const read = positiveDecimal("USD", { orZero: true }).safeParse(new ExactNumber(text));
  return read.success ? read.data : undefined;
}

function answererOf(claims: UserClaims, nonce: string): Answerer {
  return { nonce: hashSecret(nonce), user_id: claims.sub, session_id: claims.session_id };
}

/** The host that published a client's metadata document; null for a registered client. */
export function vouchingHost(client: Pick<Client, "id" | "kind">): string | null {
  return client.kind === "document" ? new URL(client.id).host : null;
}

/** A redirect's target as shown to users: its host, or the scheme and host of an app. */
export function shownRedirect(redirectUri: string): string {
  const { protocol, host } = new URL(redirectUri);
  return /^https?:$/.test(protocol) ? host : `${protocol}//${host}`;
}
