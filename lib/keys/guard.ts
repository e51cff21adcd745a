import type { Permission } from "@/lib/contract/permissions";
import { asService, asServiceAlone, type KeyClaims } from "@/lib/db/transaction";
import type { ApiKey, KeyLookup } from "./api-key";
import { invalidCredentials } from "./credentials";
import { decideAttempt, decideCall, type RateStatus } from "./decide";
import { noteUse } from "./note-use";
import { type Admission, admissionsArgument, loadAdmission } from "./queries";

/** A caller whose key was admitted: what it may read, as row-level security will hold it to. */
export type KeyPrincipal = { key: ApiKey; claims: KeyClaims };

/**
 * Admits a call that reads, or that will be asked for its permissions later. Counts against the key's rate where it has
 * one.
 * @returns the principal, or the refusal as a ServiceError; with the state of the rate either way
 */
export async function admitRead(call: {
  lookup: KeyLookup;
  address: string | undefined;
  permission?: Permission;
}): Promise<{ outcome: KeyPrincipal | Error; rate: RateStatus | null }> {
  const lookups = [call.lookup];
  const first = await asServiceAlone((client) => loadAdmission(client, { lookups }));
  noteUse(first.keys.values(), first.now);
  const unlimited = judge(first, call);
  // Counting needs the key's lock, and a lock needs a transaction: worth it only where there is a rate to count.
  if (!unlimited.rate) return unlimited;
  return asService(async (client) => {
    const admission = await loadAdmission(client, { lookups });
    const verdict = judge(admission, call);
    const loaded = admission.keys.get(call.lookup.value);
    if (loaded && verdict.counted) {
      await client.query("select private.record_admissions($1)", [
        JSON.stringify(admissionsArgument([{ loaded, admitted: 1 }], admission.now)),
      ]);
    }
    return verdict;
  });
}

function judge(
  { keys, now }: Admission,
  call: { lookup: KeyLookup; address: string | undefined; permission?: Permission },
): { outcome: KeyPrincipal | Error; rate: RateStatus | null; counted: boolean } {
  const loaded = keys.get(call.lookup.value);
  if (!loaded) return { outcome: invalidCredentials(), rate: null, counted: false };
  const { key, usage } = loaded;
  const { refusal, rate } = decideCall(key, usage, call.address, now);
  if (refusal) return { outcome: refusal, rate, counted: false };
  const denied = call.permission ? decideAttempt(key, { permission: call.permission }) : null;
  return { outcome: denied ?? { key, claims: claimsOf(key) }, rate, counted: rate !== null };
}

/** What the database's policies are told of a key: its own project wins over the lists, an allow-list over a deny-list. */
function claimsOf(key: ApiKey): KeyClaims {
  const { project_slugs: allowed, deny_project_slugs: denied } = key.conditions;
  const allow = key.project ? [key.project.slug] : allowed?.length ? allowed : null;
  return {
    id: key.id,
    workspace_id: key.workspaceId,
    environment: key.environment,
    allow,
    deny: allow ? [] : (denied ?? []),
  };
}
