import { rootCertificates } from "node:tls";
import { env } from "@/lib/env";
import { supabaseRoots } from "./supabase-roots";

/**
 * How to connect to a database: its address, and the certificate authorities to verify it with. pg reads `sslmode=require` as
 * "verify with the authorities that Node knows", which databases with an authority of their own fail. POSTGRES_CA_CERT is used
 * for every database; Supabase's authorities are known here. Both are used whatever the address says about TLS, except that
 * Supabase's are not where it says to use none or to verify nothing.
 */
export function connectionTo(url: string): { connectionString: string; ssl?: { ca: string[] } } {
  const address = new URL(url);
  const set = env().POSTGRES_CA_CERT;
  const ca = set ? [set] : authoritiesOf(address);
  if (!ca) {
    const { searchParams } = address;
    const isAlias = /^(prefer|require|verify-ca)$/.test(searchParams.get("sslmode") ?? "");
    if (!isAlias || searchParams.has("uselibpqcompat")) return { connectionString: url };
    // What pg reads these as today. Its next major version is going to verify less.
    searchParams.set("sslmode", "verify-full");
    return { connectionString: address.href };
  }
  // The address's own TLS settings would override the authorities.
  for (const name of [...address.searchParams.keys()])
    if (name.startsWith("ssl")) address.searchParams.delete(name);
  return { connectionString: address.href, ssl: { ca } };
}

/** The authorities of a Supabase project's database; undefined for others, and where the address decides itself. */
function authoritiesOf({ hostname, searchParams }: URL): string[] | undefined {
  if (!/\.supabase\.(co|com)$/.test(hostname)) return undefined;
  if (["disable", "no-verify"].includes(searchParams.get("sslmode") ?? "")) return undefined;
  if (searchParams.has("sslrootcert")) return undefined;
  return [supabaseRoots, ...rootCertificates];
}

/** What to do about a certificate that could not be verified; undefined for other errors. */
export function tlsRemedy(error: Error & { code?: string }): string | undefined {
  const isUnknown = /^(UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_UNTRUSTED)/.test(error.code ?? "");
  if (isUnknown) {
    return "Its certificate is signed by an authority that this machine does not know: set POSTGRES_CA_CERT to the certificate (PEM) of that authority, which the database's host offers for download.";
  }
  if (!/^(CERT_|ERR_TLS_)/.test(error.code ?? "")) return undefined;
  return "Its certificate is not valid for this address now: use the host name that it was issued for, and have it renewed if it has expired.";
}
