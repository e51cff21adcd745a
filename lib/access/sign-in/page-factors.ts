import type { SupabaseClient } from "@supabase/supabase-js";

/** The second factors of the session's user. */
export type PageFactors = {
  /** Verified authenticator apps, most recently used first. `createdAt` and `lastUsedAt` are ISO 8601. */
  authenticators: { id: string; name: string; createdAt: string; lastUsedAt: string | null }[];
  /** Authenticators whose enrolment was not completed. */
  unconfirmed: string[];
  hasRecoveryCodes: boolean;
};

/** Reads a user's factors from the identity provider, local or Supabase. @throws AuthError of supabase-js */
export async function readFactors({ auth }: SupabaseClient): Promise<PageFactors> {
  const { data, error } = await auth.mfa.listFactors();
  if (error) throw error;
  const authenticators = data.totp.map((factor) => ({
    id: factor.id,
    name: factor.friendly_name ?? "Authenticator app",
    createdAt: factor.created_at,
    lastUsedAt: factor.last_challenged_at ?? null,
  }));
  return {
    authenticators: authenticators.sort((a, b) => (b.lastUsedAt ?? "").localeCompare(a.lastUsedAt ?? "")),
    unconfirmed: data.all
      .filter(({ factor_type, status }) => factor_type === "totp" && status !== "verified")
      .map(({ id }) => id),
    hasRecoveryCodes: data.recovery_code.length > 0,
  };
}

/**
 * Reads how many recovery codes are unused; null if none were created.
 * @returns undefined if the identity provider offers none: a Supabase project before September 2026, or with them
 *   turned off
 */
export async function readCodesLeft({
  auth,
}: SupabaseClient): Promise<{ total: number; remaining: number } | null | undefined> {
  const { data, error } = await auth.mfa.recoveryCodes.getStatus();
  if (data) return { total: data.total, remaining: data.remaining };
  return error.code === "mfa_factor_not_found" ? null : undefined;
}
