"use client";

import { useRouter } from "next/navigation";
import { useState } from "react";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { TimeZoneField } from "@/components/schedule/time-zone-field";
import { useOwnZone } from "@/components/schedule/use-own-zone";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { Form, textOf } from "@/components/ui/form";
import { TextField } from "@/components/ui/form-field";
import type { membership } from "@/lib/contract/access/me";
import type { createWorkspaceRequest } from "@/lib/contract/access/workspaces";

/** Creates a workspace and opens it. Without an address, the API derives one from the name. */
export function NewWorkspaceForm() {
  const router = useRouter();
  const [zone, setZone] = useState<string[]>([]);
  const own = useOwnZone();
  const { run, isPending, problem, fieldErrors } = useMutation(
    (name: string, slug: string, zone: string | undefined) =>
      callApi<typeof membership, typeof createWorkspaceRequest>("POST", "/api/v1/workspaces", {
        name,
        ...(slug && { slug }),
        ...(zone && { time_zone: zone }),
      }),
    { quiet: true, refresh: false },
  );
  const submit = async (fields: FormData) => {
    const created = await run(textOf(fields, "name"), textOf(fields, "slug"), zone[0]);
    if (created) router.push(`/${created.slug}`);
  };
  return (
    <Form onSubmit={submit} className="grid gap-4">
      {problem ? <Alert variant="destructive">{problem}</Alert> : null}
      <TextField
        label="Name"
        error={fieldErrors.name}
        name="name"
        required
        maxLength={120}
        autoComplete="organization"
        autoFocus
      />
      <TextField
        label="Address"
        optional
        error={fieldErrors.slug}
        description="Lower-case letters, digits and dashes. Leave empty to derive it from the name. It cannot be changed later."
        name="slug"
        maxLength={63}
        autoCapitalize="none"
        spellCheck={false}
      />
      <TimeZoneField
        zone={zone}
        onZone={setZone}
        description="Its days, weeks and months are those of this time zone. Left empty: UTC. It can be changed later."
        error={fieldErrors.time_zone}
      />
      {own === undefined || zone[0] !== own ? (
        // Its space is reserved until the browser's time zone is known.
        <Button
          variant="outline"
          size="sm"
          className={own === undefined ? "invisible justify-self-start" : "justify-self-start"}
          onClick={() => own !== undefined && setZone([own])}
        >
          Use {own ?? "UTC"}
        </Button>
      ) : null}
      <Button type="submit" disabled={isPending} className="h-10 sm:h-9">
        Create the workspace
      </Button>
    </Form>
  );
}
