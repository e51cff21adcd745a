import type { ServiceAddresses } from "@/components/keys/key-view";
import { toolsAddress } from "@/lib/access/oauth/addresses";
import { serviceAddress } from "@/lib/service-address";

/** The addresses of this service, for examples that work as they are copied. */
export function serviceAddresses(): ServiceAddresses {
  return { api: serviceAddress(), mcp: toolsAddress() };
}
