"use client";

import type { ReactNode } from "react";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import type { currentUser, UpdateMeRequest, updateMeRequest } from "@/lib/contract/access/me";

/**
 * The shared part of the forms that change the signed-in user.
 * @returns `save`, which sends the changes; `fieldErrors` by the API's paths; and `footer`, the end of the form with the problem and
 *   the button that saves
 */
export function useAccountForm(): {
  save: (changes: UpdateMeRequest) => Promise<unknown>;
  fieldErrors: Record<string, string>;
  footer: ReactNode;
} {
  const { run, isPending, problem, fieldErrors } = useMutation(
    (changes: UpdateMeRequest) =>
      callApi<typeof currentUser, typeof updateMeRequest>("PATCH", "/api/v1/me", changes),
    { done: "Your account is changed.", quiet: true },
  );
  return {
    save: run,
    fieldErrors,
    footer: (
      <>
        {problem ? <Alert variant="destructive">{problem}</Alert> : null}
        <Button type="submit" disabled={isPending} className="justify-self-start max-sm:h-10">
          Save
        </Button>
      </>
    ),
  };
}
