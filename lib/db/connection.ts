import { env } from "@/lib/env";

/**
 * How to connect to a database: its address, and the certificate authority to check it against where one is set. pg
 * reads `sslmode=require` as "verify against the system's authorities", which hosted databases with their own authority
 * fail; with POSTGRES_CA_CERT they are verified against that one.
 */
export function connectionTo(url: string): { connectionString: string; ssl?: { ca: string } } {
  const ca = env().POSTGRES_CA_CERT;
  if (!ca) return { connectionString: url };
  const address = new URL(url);
  // What the address says of TLS would win over the authority.
  for (const name of [...address.searchParams.keys()])
    if (name.startsWith("ssl")) address.searchParams.delete(name);
  return { connectionString: address.href, ssl: { ca } };
}
