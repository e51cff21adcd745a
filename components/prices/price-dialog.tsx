"use client";

import { useState } from "react";
import type { z } from "zod";
import { ApiError, callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Dialog, DialogContent, DialogDescription, DialogHeader, DialogTitle } from "@/components/ui/dialog";
import { DialogFormFooter } from "@/components/ui/dialog-form-footer";
import { Form } from "@/components/ui/form";
import type { setPriceRequest, setPriceResult } from "@/lib/contract/ledger/prices";
import { PriceEffect, PriceSubject, RepricingFields, StartField, UnitFields } from "./price-fields";
import { type PriceForm, parsePriceForm, priceFormOf } from "./price-request";
import type { PriceStart } from "./price-view";

/** Sets the prices of a model's units from a day on. The service then corrects the usage that they apply to. */
export default function PriceDialog({
  workspace,
  start,
  onClose,
}: {
  workspace: string;
  start: PriceStart;
  onClose: () => void;
}) {
  const [form, setForm] = useState(() => priceFormOf(start));
  const { run, isPending, problem, fieldErrors } = useMutation(
    async (filled: PriceForm) => {
      const { requests } = parsePriceForm(filled);
      for (const { place, request } of requests) await setPrice(workspace, place, request);
      return requests.length;
    },
    {
      check: (filled) => parsePriceForm(filled).errors,
      done: (count) =>
        `${count === 1 ? "The price is" : `${count} prices are`} set. Earlier usage is being corrected.`,
      quiet: true,
    },
  );
  const change = (changes: Partial<PriceForm>) => setForm((current) => ({ ...current, ...changes }));
  const submit = async () => {
    if (await run(form)) onClose();
  };
  const part = { form, change, errors: fieldErrors };
  return (
    <Dialog open onOpenChange={onClose}>
      <DialogContent>
        <Form onSubmit={submit} noValidate className="grid gap-5">
          <DialogHeader>
            <DialogTitle>Set a price</DialogTitle>
            <DialogDescription>
              Your prices override the catalogue. They also apply to usage from that day on that has no price
              yet.
            </DialogDescription>
          </DialogHeader>
          <PriceSubject {...part} />
          <UnitFields {...part} />
          <StartField {...part} />
          <RepricingFields {...part} />
          {form.units.some(({ waiting }) => waiting !== null) ? <PriceEffect form={form} /> : null}
          <DialogFormFooter submit="Set the price" isPending={isPending} problem={problem} />
        </Form>
      </DialogContent>
    </Dialog>
  );
}

/** Sets the price of one unit. @throws ApiError whose paths about the unit begin with its place in the form */
async function setPrice(workspace: string, place: number, request: z.input<typeof setPriceRequest>) {
  try {
    await callApi<typeof setPriceResult, typeof setPriceRequest>(
      "PUT",
      `/api/v1/workspaces/${workspace}/prices`,
      request,
    );
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const issues = error.issues.map(({ path, message }) => ({
      path: path === "unit_type" || path === "rate" ? `units.${place}.${path}` : path,
      message,
    }));
    throw new ApiError(error.status, error.code, error.message, issues);
  }
}
