/**
 * Puts the address that this page came from in place of the one that the files were made with. The agent tools may have
 * a host of their own (MCP_URL), which the service's metadata names; until that is known they are at this address too.
 */
export function fillAddresses(): void {
  const { origin } = location;
  fill("base", origin);
  fill("tools", `${origin}/api/mcp`);
  if (document.querySelector('[data-address="tools"]')) void fillOwnHost(origin);
}

async function fillOwnHost(origin: string): Promise<void> {
  try {
    const response = await fetch(`${origin}/.well-known/oauth-authorization-server`);
    const { protected_resources: resources } = (await response.json()) as { protected_resources?: string[] };
    const own = resources?.find((address) => !address.endsWith("/api/mcp")) ?? resources?.[1];
    if (response.ok && own) fill("tools", own);
  } catch {
    // The address of this page works all the same.
  }
}

function fill(kind: string, address: string): void {
  for (const element of document.querySelectorAll(`[data-address="${kind}"]`)) element.textContent = address;
}
