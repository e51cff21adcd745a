"use client";

import { useState } from "react";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Dialog, DialogContent, DialogDescription, DialogHeader, DialogTitle } from "@/components/ui/dialog";
import { DialogFormFooter } from "@/components/ui/dialog-form-footer";
import { Form } from "@/components/ui/form";
import type { setPriceRequest, setPriceResult } from "@/lib/contract/ledger/prices";
import { PriceEffect, PriceSubject, RateFields, RepricingFields } from "./price-fields";
import { type PriceForm, parsePriceForm } from "./price-request";
import { type PriceStart, usualPortion } from "./price-view";

/** Sets the price of a unit from a day on. The service then corrects the usage that the price applies to. */
export default function PriceDialog({
  workspace,
  start,
  onClose,
}: {
  workspace: string;
  start: PriceStart;
  onClose: () => void;
}) {
  const { waiting, ...given } = start;
  const [form, setForm] = useState<PriceForm>({
    ...given,
    per: usualPortion(start.unitType),
    reprices: false,
    repriceFrom: start.startsOn,
    repriceTo: "",
  });
  const { run, isPending, problem, fieldErrors } = useMutation(
    (filled: PriceForm) =>
      callApi<typeof setPriceResult, typeof setPriceRequest>(
        "PUT",
        `/api/v1/workspaces/${workspace}/prices`,
        parsePriceForm(filled).request,
      ),
    {
      check: (filled) => parsePriceForm(filled).errors,
      done: "The price is set. Earlier usage is being corrected.",
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
              Your price overrides the catalogue. It also applies to usage from that day on that has no price
              yet.
            </DialogDescription>
          </DialogHeader>
          <PriceSubject {...part} />
          <RateFields {...part} />
          <RepricingFields {...part} />
          {waiting === null ? null : <PriceEffect form={form} waiting={waiting} />}
          <DialogFormFooter submit="Set the price" isPending={isPending} problem={problem} />
        </Form>
      </DialogContent>
    </Dialog>
  );
}
