"use client";

import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Button } from "@/components/ui/button";
import type { membership } from "@/lib/contract/access/me";

/** A button that undoes the deletion of a workspace and opens it. */
export function RestoreWorkspace({ slug, name }: { slug: string; name: string }) {
  const { run, isPending } = useMutation(
    () => callApi<typeof membership>("DELETE", `/api/v1/workspaces/${slug}/deletion`),
    { refresh: false },
  );
  const restore = async () => {
    if (await run()) window.location.assign(`/${slug}`);
  };
  return (
    <Button
      variant="outline"
      size="sm"
      disabled={isPending}
      onClick={restore}
      aria-label={`Undo the deletion of ${name}`}
    >
      Undo
    </Button>
  );
}
