"use client";

import { useState } from "react";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Button } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/checkbox";
import { Dialog, DialogContent, DialogDescription, DialogHeader, DialogTitle } from "@/components/ui/dialog";
import { DialogFormFooter } from "@/components/ui/dialog-form-footer";
import { Form } from "@/components/ui/form";
import { FormField } from "@/components/ui/form-field";
import { Input } from "@/components/ui/input";
import { Select } from "@/components/ui/select";
import { type BillField, billFields, maxBillCharacters } from "@/lib/contract/bills/bill-fields";
import type { AddedBill, addBillRequest, addedBill } from "@/lib/contract/bills/bills";
import { BillCheck } from "./bill-check";

const labels: Record<BillField, string> = {
  day: "Day or month",
  amount: "Amount",
  provider: "Provider",
  account: "Account",
  line: "Description",
  model: "Model",
  unit: "Unit or token type",
  quantity: "Quantity",
  tier: "Service tier",
  user: "User",
  key: "API key",
  list_amount: "Amount before discounts",
  currency: "Currency",
};

/** The fields of the form as the API takes them. @param checked whether a dry run came before */
async function toRequest(fields: FormData, checked: boolean) {
  const file = fields.get("file") as File;
  const isText = !isBinary(file);
  const provider = String(fields.get("provider") ?? "").trim();
  const columns = Object.fromEntries(
    (Object.keys(billFields) as BillField[])
      .map((field) => [field, String(fields.get(`columns.${field}`) ?? "")])
      .filter(([, column]) => column !== ""),
  );
  return {
    name: file.name,
    content: isText ? await file.text() : await toBase64(file),
    encoding: isText ? ("text" as const) : ("base64" as const),
    columns,
    ...(provider !== "" && { constants: { provider } }),
    amounts_in: fields.get("amounts_in") === "cents" ? ("cents" as const) : ("dollars" as const),
    accept_jump: fields.get("accept_jump") !== null,
    dry_run: !checked,
  };
}

/** Whether a file is sent in Base64. */
const isBinary = ({ name }: File) => /\.(parquet|gz)$/i.test(name);

function toBase64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^data:[^,]*,/, ""));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

/** What is wrong with the file before it is sent. */
function checkFile(fields: FormData): Record<string, string> {
  const file = fields.get("file");
  if (!(file instanceof File) || file.size === 0)
    return { content: "is required: choose a CSV or Parquet file" };
  // Four characters of Base64 are three bytes.
  const isLarge = file.size > (isBinary(file) ? (maxBillCharacters * 3) / 4 : maxBillCharacters);
  if (isLarge) return { content: "is larger than 15 MiB, or 11 MiB of Parquet. Split it by month" };
  return {};
}

/** A button that opens a form which reads a bill from a file, shows what it says, and then adds it. */
export function AddBill({ workspace }: { workspace: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button size="sm" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        Add a bill
      </Button>
      <Dialog open={isOpen} onOpenChange={setOpen}>
        <DialogContent className="sm:max-w-xl">
          <DialogHeader>
            <DialogTitle>Add a bill</DialogTitle>
            <DialogDescription>
              An invoice or a cost export as CSV or Parquet, in USD. A FOCUS file of a cloud needs no more
              than the file.
            </DialogDescription>
          </DialogHeader>
          <BillForm workspace={workspace} close={() => setOpen(false)} />
        </DialogContent>
      </Dialog>
    </>
  );
}

function BillForm({ workspace, close }: { workspace: string; close: () => void }) {
  const [found, setFound] = useState<AddedBill>();
  const [columns, setColumns] = useState<string[]>([]);
  const path = `/api/v1/workspaces/${workspace}/bills`;
  const { run, isPending, problem, fieldErrors } = useMutation(
    async (fields: FormData) =>
      callApi<typeof addedBill, typeof addBillRequest>(
        "POST",
        path,
        await toRequest(fields, found !== undefined),
      ),
    {
      quiet: true,
      check: checkFile,
      done: (answer) => (answer.id === null ? "" : "The bill is added."),
    },
  );
  const submit = async (fields: FormData) => {
    const file = fields.get("file");
    if (file instanceof File) setColumns(isBinary(file) ? [] : columnsIn(await file.slice(0, 65_536).text()));
    const answer = await run(fields);
    if (answer?.id) return close();
    if (!answer) return;
    setFound(answer);
    if (file instanceof File && isBinary(file))
      setColumns([...new Set([...Object.values(answer.columns), ...answer.unused])]);
  };
  const columnErrors = Object.entries(fieldErrors).filter(
    ([name]) => name.startsWith("columns.") && name !== "columns.provider",
  );
  return (
    // What was checked holds for the fields as they were.
    <Form
      onSubmit={submit}
      onInput={(event) => {
        if (!(event.target instanceof HTMLInputElement && event.target.name === "accept_jump"))
          setFound(undefined);
      }}
      noValidate
      className="grid grid-cols-[minmax(0,1fr)] gap-4"
    >
      <FormField label="File" error={fieldErrors.content}>
        {(control) => (
          <Input
            {...control}
            name="file"
            type="file"
            accept=".csv,.tsv,.txt,.gz,.parquet,text/csv"
            className="py-1.5"
          />
        )}
      </FormField>
      <div className="grid items-start gap-4 sm:grid-cols-2">
        <FormField
          label="Provider"
          optional
          error={fieldErrors["columns.provider"]}
          description="Where no column names it: openai, anthropic."
        >
          {(control) => <Input {...control} name="provider" maxLength={64} autoComplete="off" />}
        </FormField>
        <FormField label="Amounts are in">
          {(control) => (
            <Select {...control} name="amounts_in">
              <option value="dollars">Dollars</option>
              <option value="cents">Cents</option>
            </Select>
          )}
        </FormField>
      </div>
      {columns.length > 0 || columnErrors.length > 0 ? (
        <details open={columnErrors.length > 0 || undefined}>
          <summary className="cursor-pointer text-sm">Columns</summary>
          <div className="grid gap-3 pt-3 sm:grid-cols-2">
            {(Object.keys(labels) as BillField[]).map((field) => (
              <FormField
                key={field}
                label={labels[field]}
                error={field === "provider" ? undefined : fieldErrors[`columns.${field}`]}
              >
                {(control) =>
                  // The columns of a Parquet file are known when it was read.
                  columns.length === 0 ? (
                    <Input
                      {...control}
                      name={`columns.${field}`}
                      placeholder="Found by name"
                      maxLength={200}
                    />
                  ) : (
                    <Select {...control} name={`columns.${field}`}>
                      <option value="">
                        {found?.columns[field] ? `${found.columns[field]} (found)` : "Found by name"}
                      </option>
                      {columns.map((column) => (
                        <option key={column}>{column}</option>
                      ))}
                    </Select>
                  )
                }
              </FormField>
            ))}
          </div>
        </details>
      ) : null}
      {found ? <BillCheck found={found} /> : null}
      {found && found.jumps.length > 0 ? <Checkbox name="accept_jump" label="The amounts are right" /> : null}
      <DialogFormFooter
        submit={found ? (isPending ? "Adding" : "Add the bill") : isPending ? "Checking" : "Check"}
        isPending={isPending}
        problem={problem}
      />
    </Form>
  );
}

/**
 * The columns of a CSV file by its first line, for a form that offers them. Their names may be quoted; the delimiter is the most
 * frequent of comma, semicolon and tab.
 */
function columnsIn(text: string): string[] {
  const [head = ""] = text.replace(/^\uFEFF/, "").split(/\r?\n/, 1);
  const delimiter = [",", ";", "\t"].sort((a, b) => head.split(b).length - head.split(a).length)[0] ?? ",";
  const columns: string[] = [];
  let name = "";
  let isQuoted = false;
  for (const letter of head) {
    if (letter === '"') isQuoted = !isQuoted;
    else if (letter === delimiter && !isQuoted) {
      columns.push(name.trim());
      name = "";
    } else name += letter;
  }
  columns.push(name.trim());
  return [...new Set(columns)].filter((column) => column !== "");
}
