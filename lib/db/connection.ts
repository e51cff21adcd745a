import { rootCertificates } from "node:tls";
import { env } from "@/lib/env";
import { supabaseRoots } from "./supabase-roots";

/**
 * How to connect to a database: its URL, and the certificate authorities to verify it with. pg reads `sslmode=require` as "verify with
 * the authorities that Node knows", which fails for databases with their own authority. If POSTGRES_CA_CERT is set, it is used for every
 * database, whatever the URL says about TLS. Otherwise Supabase's authorities are used for its databases, unless the URL disables TLS or
 * verification or names an authority.
 */
export function connectionTo(url: string): { connectionString: string; ssl?: { ca: string[] } } {
  const address = new URL(url);
  const set = env().POSTGRES_CA_CERT;
  const ca = set ? [set] : authoritiesOf(address);
  if (!ca) {
    const { searchParams } = address;
    const isAlias = /^(prefer|require|verify-ca)$/.test(searchParams.get("sslmode") ?? "");
    if (!isAlias || searchParams.has("uselibpqcompat")) return { connectionString: url };
    // pg reads these modes as `verify-full` today, but its next major version will verify less.
    searchParams.set("sslmode", "verify-full");
    return { connectionString: address.href };
  }
  // The TLS settings in the URL would override the authorities.
  for (const name of [...address.searchParams.keys()])
    if (name.startsWith("ssl")) address.searchParams.delete(name);
  return { connectionString: address.href, ssl: { ca } };
}

/** The authorities of a Supabase project's database; undefined for other databases, and if the URL has its own settings. */
function authoritiesOf({ hostname, searchParams }: URL): string[] | undefined {
  if (!/\.supabase\.(co|com)$/.test(hostname)) return undefined;
  if (["disable", "no-verify"].includes(searchParams.get("sslmode") ?? "")) return undefined;
  if (searchParams.has("sslrootcert")) return undefined;
  return [supabaseRoots, ...rootCertificates];
}

/** The remedy for a certificate that could not be verified; undefined for other errors. */
export function tlsRemedy(error: Error & { code?: string }): string | undefined {
  const isUnknown = /^(UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_UNTRUSTED)/.test(error.code ?? "");
  if (isUnknown) {
    return "Its certificate is signed by an authority that this machine does not know: set POSTGRES_CA_CERT to the certificate (PEM) of that authority, which the database's host offers for download.";
  }
  if (!/^(CERT_|ERR_TLS_)/.test(error.code ?? "")) return undefined;
  return "Its certificate is not valid for this address now: use the host name that it was issued for, and have it renewed if it has expired.";
}
