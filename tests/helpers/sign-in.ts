import { beforeAll, beforeEach } from "vitest";
import { apiClient } from "./client";
import {
  authorizeUrl,
  type Browser,
  consent,
  makePkce,
  openBrowser,
  postForm,
  redirectUri,
  registerClient,
} from "./oauth";
import { withPages } from "./service";
import { withSharedHarness } from "./shared-harness";

type Changes = Record<string, string | undefined>;

/** The slug of a user's own workspace. */
export async function slugOf({ baseUrl, token }: Browser): Promise<string> {
  const { body } = await apiClient(baseUrl, token).get("/api/v1/me");
  return (body.workspaces as { slug: string }[])[0]?.slug ?? "";
}

/** An OAuth refusal as text: "400 invalid_grant". */
export const refusalOf = ({ status, body }: { status: number; body: { error?: string } }) =>
  `${status} ${body.error}`;

/**
 * Sets up a shared service with pages, two users with browsers, and a client that is registered anew for every test. The
 * result has functions that request authorization and exchange codes; `changes` replace parameters, undefined removes one.
 * @param settings further settings of the service
 */
export function withSignIn(settings: Record<string, string> = {}) {
  const harness = withSharedHarness({ settings: { ...withPages, ...settings } });
  const baseUrl = () => harness.services[0]?.baseUrl ?? "";
  const { verifier, challenge } = makePkce();
  const world = { harness, baseUrl } as {
    harness: typeof harness;
    baseUrl: () => string;
    browser: Browser;
    other: Browser;
    workspace: string;
    clientId: string;
  };
  beforeAll(async () => {
    [world.browser, world.other] = await Promise.all([openBrowser(baseUrl()), openBrowser(baseUrl())]);
    world.workspace = await slugOf(world.browser);
  });
  beforeEach(async () => {
    world.clientId = await registerClient(baseUrl());
  });
  const link = (changes: Changes = {}) => authorizeUrl(baseUrl(), world.clientId, challenge, changes);
  const exchange = (code: string, changes: Changes = {}) =>
    postForm(baseUrl(), "/oauth/token", {
      grant_type: "authorization_code",
      code,
      client_id: world.clientId,
      redirect_uri: redirectUri,
      code_verifier: verifier,
      resource: `${baseUrl()}/api/mcp`,
      ...changes,
    });
  const getCode = () => consent(world.browser, link(), { workspace: world.workspace });
  return Object.assign(world, { link, exchange, getCode });
}
