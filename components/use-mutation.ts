"use client";

import { useRouter } from "next/navigation";
import { useCallback, useState, useTransition } from "react";
import { ApiError } from "./api";
import { toast, toastProblem } from "./ui/toaster";

const noErrors: Record<string, string> = {};

/**
 * Something that a click or a form changes. `run` calls it, shows the page anew from the server, and resolves with the
 * answer, or undefined where it was refused: then `problem` says why, and `fieldErrors` what is wrong with which field.
 * Pending until the fresh page is in sight.
 * @param options.done what to say in a corner when it worked
 * @param options.quiet keeps a refusal out of the corner, for a form that shows `problem` itself
 * @param options.refresh false where the page shows nothing of it
 */
export function useMutation<Input extends unknown[], Answer>(
  call: (...input: Input) => Promise<Answer>,
  options: { done?: string; quiet?: boolean; refresh?: boolean } = {},
) {
  const { done, quiet = false, refresh = true } = options;
  const router = useRouter();
  const [isCalling, setCalling] = useState(false);
  const [isRefreshing, startTransition] = useTransition();
  const [refusal, setRefusal] = useState<ApiError>();

  const run = async (...input: Input): Promise<Answer | undefined> => {
    setCalling(true);
    setRefusal(undefined);
    try {
      const answer = await call(...input);
      if (done) toast(done);
      if (refresh) startTransition(() => router.refresh());
      return answer;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setRefusal(error);
      if (!quiet) toastProblem(error.message);
      return undefined;
    } finally {
      setCalling(false);
    }
  };
  const reset = useCallback(() => setRefusal(undefined), []);

  return {
    run,
    reset,
    isPending: isCalling || isRefreshing,
    refusal,
    problem: refusal?.message,
    /** The problem, unless it is of fields, which say it themselves. */
    formProblem: refusal && refusal.issues.length === 0 ? refusal.message : undefined,
    fieldErrors: refusal?.fieldErrors ?? noErrors,
  };
}
