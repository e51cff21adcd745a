import { Batcher } from "@/lib/batcher";
import type { Permission } from "@/lib/contract/access/permissions";
import { asServiceAlone, inTwoRoundTrips, isContention } from "@/lib/db/transaction";
import { overloaded, ServiceError } from "@/lib/errors";
import { reportFailure } from "@/lib/log";
import {
  type Admission,
  type AdmissionRow,
  type LoadedKey,
  loadAdmission,
  loadAdmissionStatement,
  parseAdmission,
  recordAdmissionsStatement,
} from "./admission-queries";
import { AdmittedCalls } from "./admitted-calls";
import type { ApiKey, KeyLookup } from "./api-key";
import { type Counted, decideAttempt, decideCall, type RateStatus } from "./decide";
import { identify, type KeyPrincipal, toPrincipal } from "./identify";
import { knownKey, rememberKey } from "./known-keys";
import { recordKeyUse } from "./record-key-use";

/** A call to be admitted. `audiences`: the resources for which an access token may be issued, if access tokens are accepted. */
export type KeyCall = {
  lookup: KeyLookup;
  address: string | undefined;
  permission?: Permission;
  audiences?: readonly string[];
};

/** The decision about a call. `keyId`: the id of its key, even if the call is refused; undefined for unknown credentials. */
export type Admitted = Counted<KeyPrincipal> & { keyId: string | undefined };

/**
 * Admits a call that reads, or whose permissions are checked later. Counts it against the key's rate limit, if any. Calls
 * that arrive while others are being admitted are admitted together.
 * @returns the principal or the refusal, and the state of the rate in both cases
 * @throws ServiceError unavailable
 */
export async function admitRead(call: KeyCall): Promise<Admitted> {
  if (knownKey(call.lookup)?.isLimited === false) {
    const { loaded, outcome, rate } = judge(await withoutLimits.add(call), call);
    // If the key has a limit now, the call must be counted.
    if (!rate) return { outcome, rate, keyId: loaded?.key.id };
  }
  return withLimits.add(call);
}

/**
 * Checks whether a call's key may be used, before its long body is read. Counts nothing: the call is admitted and
 * counted later, with its body.
 * @throws ServiceError unavailable
 */
export async function checkCaller(call: KeyCall): Promise<{
  refusal: ServiceError | undefined;
  rate: RateStatus | null;
  workspaceId?: string | undefined;
}> {
  const admission = await asServiceAlone(
    (client) => loadAdmission(client, { lookups: [call.lookup] }),
    [call.lookup],
  );
  const { outcome, rate, loaded } = judge(admission, call);
  if (outcome instanceof ServiceError) return { refusal: outcome, rate };
  return { refusal: undefined, rate: null, workspaceId: loaded?.key.workspaceId };
}

/**
 * Loads the present state of a key, to send its earlier records again. Admits and counts nothing.
 * @throws ServiceError unavailable
 */
export async function findKey(lookup: KeyLookup): Promise<ApiKey | undefined> {
  const admission = await asServiceAlone((client) => loadAdmission(client, { lookups: [lookup] }));
  return admission.keys.get(lookup.value)?.key;
}

const groups = {
  weigh: () => 1,
  maxGroupWeight: 200,
  maxInFlight: 2,
  maxQueuedWeight: 10_000,
  overflow: () => overloaded(),
};

/** For keys that had no limit at their last call. One statement loads them, without a transaction and without locks. */
const withoutLimits = new Batcher<KeyCall, Admission>({
  ...groups,
  write: async (calls) => {
    const lookups = calls.map(({ lookup }) => lookup);
    const admission = await asServiceAlone((client) => loadAdmission(client, { lookups }), lookups);
    recordKeyUse(admission.keys.values(), admission.now);
    return calls.map(() => admission);
  },
});

/**
 * For keys with a limit, and keys that this process has not seen. Counting needs a transaction, because the key must stay locked until
 * the count is stored. A key that another transaction has locked delays only these groups.
 */
const withLimits = new Batcher<KeyCall, Admitted>({ ...groups, write: admitGroup });

const maxAttempts = 8;

/** Admits a group. If the database refuses the whole group, each call is admitted by itself. */
async function admitGroup(calls: KeyCall[]): Promise<Admitted[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await tryGroup(calls);
    } catch (error) {
      if (isContention(error) && attempt < maxAttempts) continue;
      if (error instanceof ServiceError || calls.length === 1) throw error;
      reportFailure(error, "A group of calls could not be admitted; admitting them one by one.");
      return Promise.all(calls.map(admitAlone));
    }
  }
}

async function admitAlone(call: KeyCall): Promise<Admitted> {
  try {
    const [verdict] = await admitGroup([call]);
    if (!verdict) throw new Error("The call has no verdict.");
    return verdict;
  } catch (error) {
    const refused = { rate: null, keyId: undefined };
    if (error instanceof ServiceError) return { outcome: error, ...refused };
    reportFailure(error, "A call could not be admitted.");
    return { outcome: new ServiceError("internal_error", "The call could not be admitted."), ...refused };
  }
}

async function tryGroup(calls: KeyCall[]): Promise<Admitted[]> {
  const lookups = calls.map(({ lookup }) => lookup);
  const load = loadAdmissionStatement({ lookups });
  const { admission, verdicts } = await inTwoRoundTrips<
    AdmissionRow,
    { admission: Admission; verdicts: Admitted[] }
  >(
    load,
    async (answer) => {
      const admission = parseAdmission(answer);
      const counts = new AdmittedCalls(admission.now);
      const verdicts = calls.map((call) => {
        const { loaded, outcome, rate, isCounted } = judge(admission, call);
        if (loaded && isCounted) counts.add(loaded);
        if (loaded && !(outcome instanceof ServiceError)) rememberKey(call.lookup, loaded);
        return { outcome, rate, keyId: loaded?.key.id };
      });
      const counted = counts.list();
      const close = counted.length > 0 ? [recordAdmissionsStatement(counted, admission.now)] : [];
      return { close, result: { admission, verdicts } };
    },
    lookups,
  );
  recordKeyUse(admission.keys.values(), admission.now);
  return verdicts;
}

/** Decides about a call without counting it. `isCounted`: the call must be counted, even if its permission is missing. */
function judge(
  admission: Admission,
  call: KeyCall,
): Counted<KeyPrincipal> & { loaded?: LoadedKey; isCounted: boolean } {
  const identified = identify(admission, call);
  if (identified instanceof ServiceError) return { outcome: identified, rate: null, isCounted: false };
  const { loaded, token } = identified;
  const { key, usage } = loaded;
  const { refusal, rate } = decideCall(key, usage, call.address, admission.now);
  if (refusal) return { outcome: refusal, rate, loaded, isCounted: false };
  const denied = call.permission ? decideAttempt(key, { permissions: [call.permission] }) : null;
  return { outcome: denied ?? toPrincipal(key, token), rate, loaded, isCounted: rate !== null };
}
