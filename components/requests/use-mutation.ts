"use client";

import { useRouter } from "next/navigation";
import { useCallback, useState, useTransition } from "react";
import { toast, toastProblem } from "@/components/ui/toaster";
import { ApiError, Problem } from "./api";

type FieldErrors = Record<string, string>;

/** Why a mutation failed. `message` is undefined if only the check before the call found errors in fields. */
type Failure = { message?: string; fieldErrors: FieldErrors };

const noErrors: FieldErrors = {};

/** How a change is undone. `done` is the text of the notice afterwards. */
export type Undo = { run: () => Promise<unknown>; done: string };

/** @param isForm whether the failed call was from a form, whose input is kept */
function describeFailure(error: unknown, isForm: boolean): string {
  if (isForm && error instanceof ApiError && error.code === "unreachable")
    return "Outlay cannot be reached. What you entered is still here. Try again in a moment.";
  return error instanceof Problem ? error.message : "That did not work. Try again in a moment.";
}

/**
 * Runs a call that changes something: from a click, a form or a confirmation. All forms and actions use it, so that
 * pending states, errors and notices are the same everywhere.
 * @param call makes the change; throws a Problem when it is refused
 * @param options.check finds what is wrong with the input before the call, by the API's field paths
 * @param options.done text of the notice after success
 * @param options.undo undoes the change, by a button of the notice after success; it may depend on the answer
 * @param options.quiet true for a form that shows `problem` itself; otherwise a failure is shown as a notice
 * @param options.refresh false if the change does not affect the page; otherwise the page is read again
 * @returns `run`, which resolves with the answer, or with undefined after a failure; `isPending` until the page is read
 *   again; `fieldErrors` by the API's paths; `problem`, the message of a failure that is not about fields; and `message`,
 *   the message of any failure
 */
export function useMutation<Input extends unknown[], Answer>(
  call: (...input: Input) => Promise<Answer>,
  options: {
    check?: (...input: Input) => FieldErrors;
    done?: string | ((answer: Answer) => string);
    undo?: Undo | ((answer: Answer) => Undo) | undefined;
    quiet?: boolean;
    refresh?: boolean;
  } = {},
) {
  const { check, done, undo, quiet = false, refresh = true } = options;
  const router = useRouter();
  const [isCalling, setCalling] = useState(false);
  const [isRefreshing, startTransition] = useTransition();
  const [failure, setFailure] = useState<Failure>();

  const run = async (...input: Input): Promise<Answer | undefined> => {
    const invalid = check?.(...input) ?? noErrors;
    if (Object.keys(invalid).length > 0) {
      setFailure({ fieldErrors: invalid });
      return undefined;
    }
    setFailure(undefined);
    setCalling(true);
    try {
      const answer = await call(...input);
      const text = typeof done === "function" ? done(answer) : done;
      const undone = typeof undo === "function" ? undo(answer) : undo;
      if (text) toast(text, undone && { label: "Undo", run: () => void takeBack(undone) });
      if (refresh) startTransition(() => router.refresh());
      return answer;
    } catch (error) {
      const message = describeFailure(error, quiet);
      setFailure({ message, fieldErrors: error instanceof ApiError ? error.fieldErrors : noErrors });
      if (!quiet) toastProblem(message);
      return undefined;
    } finally {
      setCalling(false);
    }
  };
  // Does not use the component's state, because the deletion may have removed the row that this component is in.
  const takeBack = async (undone: Undo) => {
    try {
      await undone.run();
      toast(undone.done);
      router.refresh();
    } catch (error) {
      toastProblem(describeFailure(error, false));
    }
  };
  const reset = useCallback(() => setFailure(undefined), []);

  const fieldErrors = failure?.fieldErrors ?? noErrors;
  return {
    run,
    reset,
    isPending: isCalling || isRefreshing,
    fieldErrors,
    problem: Object.keys(fieldErrors).length === 0 ? failure?.message : undefined,
    message: failure?.message,
  };
}
