"use client";

import { useEffect, useState } from "react";
import { EffectsPreview } from "@/components/activity/bulk-preview";
import { sumExact } from "@/components/figures/exact";
import { formatCount } from "@/components/figures/format-count";
import { formatDays } from "@/components/figures/format-date";
import { formatSignedUsd } from "@/components/figures/money";
import { callApi, Problem } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { toProjectOption, useProjectList } from "@/components/shell/use-project-list";
import { Alert } from "@/components/ui/alert";
import { Checkbox } from "@/components/ui/checkbox";
import { Combobox } from "@/components/ui/combobox";
import { Dialog, DialogContent, DialogDescription, DialogHeader, DialogTitle } from "@/components/ui/dialog";
import { DialogFormFooter } from "@/components/ui/dialog-form-footer";
import { Form } from "@/components/ui/form";
import { FormField } from "@/components/ui/form-field";
import { Select } from "@/components/ui/select";
import type {
  BillAdjustment,
  BookAdjustmentRequest,
  billAdjustment,
  bookAdjustmentRequest,
} from "@/lib/contract/bills/bill-adjustments";
import { type BookablePart, bookableParts, differenceParts } from "@/lib/contract/bills/difference-parts";
import { undoAdjustment } from "./undo-adjustment";

/** The bookable parts of a provider's difference. Amounts are exact text. */
export type Bookable = { provider: string; parts: { part: BookablePart; usd: string }[] };

export type BookingDialogProps = {
  workspace: string;
  month: string;
  /** The providers with differences. */
  bookable: Bookable[];
  /** The project of the last adjustment. */
  project: string | undefined;
  onClose: () => void;
};

type Asked = Pick<BookAdjustmentRequest, "month" | "project" | "provider" | "parts">;
type Body = Parameters<typeof callApi<typeof billAdjustment, typeof bookAdjustmentRequest>>[2];

const send = (workspace: string, body: object, signal?: AbortSignal) =>
  callApi<typeof billAdjustment, typeof bookAdjustmentRequest>(
    "POST",
    `/api/v1/workspaces/${workspace}/bill-adjustments`,
    body as Body,
    signal,
  );

/** Books the difference between bills and records, after a preview of the effects. */
export default function BookingDialog({ workspace, month, bookable, project, onClose }: BookingDialogProps) {
  const projects = useProjectList(workspace);
  const [chosen, setChosen] = useState(project);
  const [provider, setProvider] = useState("");
  const [without, setWithout] = useState<BookablePart[]>([]);
  const of = projects.length === 1 ? projects[0]?.slug : chosen;
  const offered = partsOf(bookable, provider);
  const parts = offered.map(({ part }) => part).filter((part) => !without.includes(part));
  const preview = usePreview(
    workspace,
    of && parts.length > 0 ? { month, project: of, ...(provider && { provider }), parts } : undefined,
  );
  const { answer } = preview;
  const { run, isPending, problem, fieldErrors } = useMutation((body: object) => send(workspace, body), {
    quiet: true,
    done: (booked) => `Booked ${formatSignedUsd(booked.amount_usd)} as adjustments.`,
    undo: (booked) => ({
      run: () => undoAdjustment(workspace, booked.id ?? ""),
      done: "Undone. Every total is as it was before.",
    }),
  });
  return (
    <Dialog open onOpenChange={onClose}>
      <DialogContent>
        <DialogHeader>
          <DialogTitle>Book the difference</DialogTitle>
          <DialogDescription>
            Adjustments are costs of their own type, on the days that they belong to; of a closed month,
            today. They can be undone.
          </DialogDescription>
        </DialogHeader>
        <Form
          noValidate
          className="grid grid-cols-[minmax(0,1fr)] gap-4"
          onSubmit={async () => {
            if (!answer || !preview.asked) return;
            if (await run({ ...preview.asked, expected_usd: answer.amount_usd })) onClose();
          }}
        >
          <div className="grid items-start gap-4 sm:grid-cols-2">
            <FormField label="Project" error={fieldErrors.project ?? preview.fieldErrors.project}>
              {(control) => (
                <Combobox
                  {...control}
                  options={projects.map((one) => toProjectOption(one, "slug"))}
                  value={of ? [of] : []}
                  onChange={([slug]) => setChosen(slug)}
                  limit={1}
                  placeholder="checkout"
                />
              )}
            </FormField>
            <FormField label="Provider" error={fieldErrors.provider}>
              {(control) => (
                <Select {...control} value={provider} onChange={({ target }) => setProvider(target.value)}>
                  <option value="">All that differ</option>
                  {bookable.map(({ provider: name }) => (
                    <option key={name} value={name}>
                      {name}
                    </option>
                  ))}
                </Select>
              )}
            </FormField>
          </div>
          <fieldset className="grid gap-2.5">
            <legend className="mb-2 font-medium text-sm">Parts of the difference</legend>
            {offered.map(({ part, usd }) => (
              <Checkbox
                key={part}
                checked={!without.includes(part)}
                onChange={({ target: { checked } }) =>
                  setWithout((before) => (checked ? before.filter((one) => one !== part) : [...before, part]))
                }
                label={
                  <>
                    {differenceParts[part].label}{" "}
                    <span className="text-muted-foreground tabular-nums">{formatSignedUsd(usd)}</span>
                  </>
                }
              />
            ))}
          </fieldset>
          <div aria-live="polite" className="grid gap-3">
            {of ? null : (
              <p className="text-muted-foreground text-sm">
                Choose the project that the adjustment is a cost of.
              </p>
            )}
            {preview.problem ? <Alert variant="destructive">{preview.problem}</Alert> : null}
            {preview.isPending ? (
              <p className="text-muted-foreground text-sm">Working out what changes…</p>
            ) : null}
            {answer ? <Preview answer={answer} /> : null}
          </div>
          <DialogFormFooter
            submit={isPending ? "Booking" : answer ? `Book ${formatSignedUsd(answer.amount_usd)}` : "Book"}
            isPending={isPending || !answer}
            problem={problem}
          />
        </Form>
      </DialogContent>
    </Dialog>
  );
}

function Preview({ answer }: { answer: BillAdjustment }) {
  const days = [...new Set(answer.days.map(({ day }) => day))];
  return (
    <section aria-label="What changes" className="grid gap-3 rounded-lg border p-3 text-sm">
      <p>
        <span className="font-medium tabular-nums">{formatSignedUsd(answer.amount_usd)}</span> in{" "}
        {formatCount(answer.message_count, "adjustment")}, {formatCount(days.length, "day")} (
        {formatDays(days[0] ?? "", days.at(-1) ?? "")}, UTC).
      </p>
      {answer.effects ? <EffectsPreview effects={answer.effects} /> : null}
    </section>
  );
}

/** The parts of one provider, or of all of them together. */
function partsOf(bookable: readonly Bookable[], provider: string): Bookable["parts"] {
  const own = bookable.filter((one) => provider === "" || one.provider === provider);
  const names = bookableParts.filter((name) =>
    own.some(({ parts }) => parts.some(({ part }) => part === name)),
  );
  return names.map((name) => ({
    part: name,
    usd: sumExact(
      own.flatMap(({ parts }) => parts.filter(({ part }) => part === name).map(({ usd }) => usd)),
    ),
  }));
}

type Shown = { key: string; answer?: BillAdjustment; problem?: string; fieldErrors: Record<string, string> };

/** Reads the preview of a booking, again whenever the booking changes. Without a booking there is no preview. */
function usePreview(workspace: string, asked: Asked | undefined) {
  const key = JSON.stringify(asked) ?? "";
  const [shown, setShown] = useState<Shown>();
  useEffect(() => {
    if (key === "") return;
    const abort = new AbortController();
    send(workspace, { ...JSON.parse(key), dry_run: true }, abort.signal).then(
      (answer) => setShown({ key, answer, fieldErrors: {} }),
      (error: unknown) => {
        if (abort.signal.aborted) return;
        const found = error instanceof Problem && "fieldErrors" in error ? error.fieldErrors : {};
        const fieldErrors = found as Record<string, string>;
        const problem = error instanceof Problem ? error.message : "This could not be worked out. Try again.";
        setShown({ key, fieldErrors, ...(!fieldErrors.project && { problem }) });
      },
    );
    return () => abort.abort();
  }, [workspace, key]);
  const current = shown?.key === key ? shown : undefined;
  return {
    asked,
    answer: current?.answer,
    problem: current?.problem,
    fieldErrors: current?.fieldErrors ?? {},
    isPending: key !== "" && !current,
  };
}
