"use client";

import { useState } from "react";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Button } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/checkbox";
import { ConfirmButton } from "@/components/ui/confirm-dialog";
import type { providerAccount } from "@/lib/contract/bills/provider-accounts";
import type { registerTelemetryRequest, TelemetryState } from "@/lib/contract/bills/provider-telemetry";

/** The actions of an admin for a provider's telemetry: register it, check it, and end it. */
export function TelemetryActions({
  workspace,
  id,
  name,
  state,
}: {
  workspace: string;
  id: string;
  name: string;
  state: TelemetryState;
}) {
  const path = `/api/v1/workspaces/${workspace}/provider-accounts/${id}/telemetry`;
  const register = useMutation(
    () => callApi<typeof providerAccount, typeof registerTelemetryRequest>("POST", path, {}),
    {
      done: ({ telemetry }) =>
        telemetry?.state === "refused" || telemetry?.state === "failed"
          ? `${name} is not registered.`
          : `${name} sends its calls here from now on.`,
    },
  );
  const check = useMutation(() => callApi<typeof providerAccount>("POST", `${path}/check`), {
    done: `The telemetry of ${name} is checked.`,
  });
  const [destination, setDestination] = useState<"remove" | "leave">("remove");
  if (state === "unreachable" || state === "registering") return null;
  if (state === "none" || state === "refused" || state === "failed")
    return (
      <Button
        variant="outline"
        size="sm"
        aria-label={`Have ${name} send its calls`}
        disabled={register.isPending}
        onClick={() => register.run()}
      >
        {register.isPending ? "Registering" : "Send calls here"}
      </Button>
    );
  return (
    <div className="flex flex-wrap gap-2">
      <Button
        variant="outline"
        size="sm"
        aria-label={`Check the telemetry of ${name}`}
        disabled={check.isPending}
        onClick={() => check.run()}
      >
        {check.isPending ? "Checking" : "Check"}
      </Button>
      <ConfirmButton
        label="End"
        aria-label={`End the telemetry of ${name}`}
        size="sm"
        title={`End the telemetry of ${name}?`}
        confirm="End the telemetry"
        onConfirm={() => callApi<typeof providerAccount>("DELETE", `${path}?destination=${destination}`)}
        details={
          <Checkbox
            label="Leave the destination there, where it cannot be removed"
            checked={destination === "leave"}
            onChange={(event) => setDestination(event.target.checked ? "leave" : "remove")}
          />
        }
        done={`The telemetry of ${name} has ended.`}
      >
        The destination is removed at the provider, and the key of its source is revoked. What was recorded
        stays.
      </ConfirmButton>
    </div>
  );
}
