/**
 * Replaces the addresses in the generated files with the origin of this page. The agent tools may have a host of their own
 * (MCP_URL), which is read from the metadata of the authorization server; until then, this origin is shown.
 */
export function replaceAddresses(): void {
  const { origin } = location;
  replace("base", origin);
  replace("tools", `${origin}/api/mcp`);
  if (document.querySelector('[data-address="tools"]')) void replaceToolsAddress(origin);
}

async function replaceToolsAddress(origin: string): Promise<void> {
  try {
    const response = await fetch(`${origin}/.well-known/oauth-authorization-server`);
    const { protected_resources: resources } = (await response.json()) as { protected_resources?: string[] };
    const own = resources?.find((address) => !address.endsWith("/api/mcp")) ?? resources?.[1];
    if (response.ok && own) replace("tools", own);
  } catch {
    // The tools also answer at the address of this page, which is shown already.
  }
}

function replace(kind: string, address: string): void {
  for (const element of document.querySelectorAll(`[data-address="${kind}"]`)) element.textContent = address;
}
