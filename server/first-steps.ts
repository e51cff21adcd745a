import { type Env, supabaseProject } from "@/lib/env";
import type { DemoAccess } from "@/lib/ledger/demo/seed";
import { serviceAddress } from "@/lib/service-address";

const message = JSON.stringify({
  project: "first-steps",
  source: "api",
  message: {
    type: "usage",
    provider: "openai",
    model: "gpt-4o",
    unit_type: "input_tokens",
    quantity: 1200,
  },
});

/** The first calls as shell commands. @param authorization the Authorization header, quoted for a shell */
function commands(address: string, authorization: string): string {
  return `  Record a cost:
    curl ${address}/api/v1/messages -H ${authorization} -H 'Content-Type: application/json' -d '${message}'
  Read this month:
    curl ${address}/api/v1/summary/month -H ${authorization}
`;
}

/**
 * The text that a start prints last: where to sign in, a command that records a cost, and one that reads it. With a demo
 * workspace they work as printed; otherwise the text begins with signing up and creating a key. Addresses are public
 * (BASE_URL). Without pages, no page is mentioned.
 * @param token the operator's token, which opens the outbox
 * @param demo access to the demo workspace, which only the embedded database has
 */
export function firstSteps(settings: Env, token: string, demo: DemoAccess | undefined): string {
  const address = serviceAddress(settings);
  const hasPages = settings.OUTLAY_PAGES === "on";
  if (demo) {
    const signIn =
      `  Sign in:  ${address}/sign-in as ${demo.email}, password ${demo.password}\n` +
      describeMail(settings, token);
    return `
${hasPages ? signIn : ""}\
  Demo key: ${demo.key}
${commands(address, `'Authorization: Bearer ${demo.key}'`)}`;
  }
  if (!hasPages) return `\n${commands(address, '"Authorization: Bearer $OUTLAY_KEY"')}`;
  return `
  Sign up:  ${address}/sign-up (it makes a workspace too), or sign in: ${address}/sign-in
${describeMail(settings, token)}  API key:  create one in the workspace, then: export OUTLAY_KEY=svc_live_…
${commands(address, '"Authorization: Bearer $OUTLAY_KEY"')}  Reference: ${address}/docs
`;
}

/** Where the mails of the local sign-in can be read. Empty with a Supabase project, which sends them. */
function describeMail(settings: Env, token: string): string {
  if (supabaseProject(settings)) return "";
  const where = {
    link: `is kept at ${serviceAddress(settings)}/outbox/open?token=${token}`,
    everyone: `is kept at ${serviceAddress(settings)}/outbox, which everybody can read`,
    off: "can be read nowhere (OUTLAY_OUTBOX=off)",
  }[settings.OUTLAY_OUTBOX];
  return `  Mail:     Outlay sends none; it ${where}\n`;
}
