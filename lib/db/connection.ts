import { env } from "@/lib/env";

/**
 * How to connect to a database: its address, and the certificate authority to verify it with, where one is set. pg
 * reads `sslmode=require` as "verify with the system's authorities", which hosted databases with their own authority
 * fail; with POSTGRES_CA_CERT they are verified with that one.
 */
export function connectionTo(url: string): { connectionString: string; ssl?: { ca: string } } {
  const ca = env().POSTGRES_CA_CERT;
  if (!ca) return { connectionString: url };
  const address = new URL(url);
  // The address's own TLS settings would override the authority.
  for (const name of [...address.searchParams.keys()])
    if (name.startsWith("ssl")) address.searchParams.delete(name);
  return { connectionString: address.href, ssl: { ca } };
}
