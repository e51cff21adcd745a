import type { ServiceAddresses } from "@/components/keys/key-view";
import { serviceAddress } from "@/lib/address";
import { toolsAddress } from "@/lib/oauth/addresses";

/** Where programs reach this service, for examples that work as they are copied. */
export function serviceAddresses(): ServiceAddresses {
  return { api: serviceAddress(), mcp: toolsAddress() };
}
