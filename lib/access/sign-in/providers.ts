import { z } from "zod";
import { type SupabaseProject, supabaseProject } from "@/lib/env";
import { log } from "@/lib/log";
import { isLoopbackHost, serviceAddress } from "@/lib/service-address";
import { redirectTo } from "./redirect-to";
import { sessionOf } from "./request-session";
import { safePath } from "./safe-path";

/** A service that people can sign in with: its id in Supabase Auth, and its displayed name. */
type SignInProvider = { id: string; name: string };

/** The known providers by their key in the settings of a project, in the order in which they are offered. */
const names = {
  google: "Google",
  github: "GitHub",
  azure: "Microsoft",
  apple: "Apple",
  gitlab: "GitLab",
  bitbucket: "Bitbucket",
  slack_oidc: "Slack",
  linkedin_oidc: "LinkedIn",
  notion: "Notion",
  figma: "Figma",
  discord: "Discord",
  facebook: "Facebook",
  twitter: "X",
  workos: "WorkOS",
  zoom: "Zoom",
  fly: "Fly",
  kakao: "Kakao",
  spotify: "Spotify",
  twitch: "Twitch",
  snapchat: "Snapchat",
  // Keycloak, or another OpenID Connect server with its paths.
  keycloak: "single sign-on",
} as const;

const providers = Object.entries(names).map(([id, name]): SignInProvider => ({ id, name }));

/** Scopes to request besides those of Supabase Auth, without which a provider returns no mail address. */
const scopes: Record<string, string> = { azure: "email", keycloak: "openid" };

const settingsSchema = z.looseObject({ external: z.record(z.string(), z.unknown()) });

const freshMs = 60_000;
/** How long a page waits for the settings. After that it offers the providers known from before. */
const limitMs = 2_000;

let offered: SignInProvider[] = [];
let askedAt = Number.NEGATIVE_INFINITY;
let asking: Promise<void> | undefined;

/** The providers that the project has turned on, read once a minute. None with the local sign-in, or if the project never answered. */
async function offeredProviders(): Promise<SignInProvider[]> {
  const project = supabaseProject();
  if (!project) return [];
  if (performance.now() - askedAt >= freshMs) {
    asking ??= askSettings(project).finally(() => {
      askedAt = performance.now();
      asking = undefined;
    });
    await asking;
  }
  return offered;
}

async function askSettings({ url, publishableKey }: SupabaseProject): Promise<void> {
  try {
    const answer = await fetch(`${url}/auth/v1/settings`, {
      headers: { apikey: publishableKey },
      signal: AbortSignal.timeout(limitMs),
    });
    if (!answer.ok) throw new Error(`The project answered ${answer.status}.`);
    const { external } = settingsSchema.parse(await answer.json());
    offered = providers.filter(({ id }) => external[id] === true);
  } catch (error) {
    log.warn({ err: error }, "The sign-in settings of the Supabase project could not be read.");
  }
}

/** The offered providers, each with its name and the link that begins a sign-in. @param next the path to open afterwards */
export async function linksToProviders(next: string | undefined): Promise<{ name: string; href: string }[]> {
  return (await offeredProviders()).map(({ id, name }) => ({
    name,
    href: `/sign-in/provider?${new URLSearchParams({ provider: id, ...(next && { next }) })}`,
  }));
}

/**
 * Handles a link of `linksToProviders`: keeps a PKCE verifier in a cookie and redirects to the provider, which redirects to
 * `/callback` through the project. Only this browser can exchange the returned code. A link on another site is refused, because
 * it would replace the verifier of a sign-in that is in progress.
 * @param address the caller's, where known
 */
export async function beginProviderSignIn(request: Request, address?: string): Promise<Response> {
  const { searchParams, origin, hostname } = new URL(request.url);
  const next = safePath(searchParams.get("next"));
  const provider = (await offeredProviders()).find(({ id }) => id === searchParams.get("provider"));
  const site = request.headers.get("sec-fetch-site");
  if (!provider || site === "cross-site" || site === "same-site") {
    const query = new URLSearchParams({ next, ...(!provider && { problem: "not-offered" }) });
    return redirectTo(`/sign-in?${query}`);
  }
  const { client, setCookies } = await sessionOf(request, address);
  const back = new URLSearchParams({ for: "provider", next });
  const { data, error } = await client.auth.signInWithOAuth({
    provider: provider.id as "github",
    options: {
      // A session belongs to a host name, and on this machine a browser may use several.
      redirectTo: `${isLoopbackHost(hostname) ? origin : serviceAddress()}/callback?${back}`,
      skipBrowserRedirect: true,
      ...(scopes[provider.id] && { scopes: scopes[provider.id] }),
    },
  });
  if (error) return redirectTo(`/sign-in?${new URLSearchParams({ next, problem: "provider" })}`);
  return redirectTo(data.url, setCookies);
}

/** The project's error codes for a failed sign-in with a provider, and the problem codes that the sign-in page explains. */
const problems: Record<string, string> = {
  signup_disabled: "no-sign-ups",
  user_banned: "banned",
  provider_disabled: "not-offered",
  bad_oauth_state: "late",
  bad_oauth_callback: "provider",
  flow_state_expired: "late",
  flow_state_not_found: "late",
};

/** The problem code for a callback without an authorization code, from its query. */
export function providerProblem(query: URLSearchParams): string {
  const [code, description] = [query.get("error_code") ?? "", query.get("error_description") ?? ""];
  if (code === "provider_email_needs_verification")
    return /has been sent/.test(description) ? "unverified-mailed" : "unverified";
  const known = problems[code];
  if (known) return known;
  if (query.get("error") === "access_denied") return "denied";
  return /user email/i.test(description) ? "no-address" : "provider";
}
