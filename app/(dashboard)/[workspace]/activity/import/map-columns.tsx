"use client";

import { formatCount } from "@/components/figures/format-count";
import { Button } from "@/components/ui/button";
import { FormField } from "@/components/ui/form-field";
import { Input } from "@/components/ui/input";
import { Select } from "@/components/ui/select";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import { type Field, fieldNames } from "@/lib/ledger/import/fields";
import { ChooseReadings } from "./choose-readings";
import {
  type Choices,
  type ChosenFile,
  constantFields,
  fieldOf,
  mapColumn,
  setConstant,
} from "./chosen-file";
import { Preview } from "./preview";
import type { Settled } from "./settle-choices";

const types = ["usage", "expense", "subscription", "allocation"];

/**
 * Maps the columns to fields and asks how to read the file, with a preview of the first rows. The initial mapping is guessed from
 * the names of the columns and from their values.
 */
export function MapColumns({
  file,
  choices,
  settled,
  onChange,
  onBack,
  onDone,
}: {
  file: ChosenFile;
  choices: Choices;
  settled: Settled;
  onChange: (choices: Choices) => void;
  onBack: () => void;
  onDone: () => void;
}) {
  const { mapping, idColumn } = choices;
  const { problem } = settled;
  const change = (next: Choices["mapping"]) => {
    // A column that the user has mapped no longer counts as guessed.
    const guessed = new Set(
      [...(choices.guessed ?? [])].filter((field) => next.columns[field] === mapping.columns[field]),
    );
    onChange({ ...choices, mapping: next, guessed });
  };
  return (
    <>
      <div>
        <h2 className="font-medium">Map the columns</h2>
        <p className="text-muted-foreground text-sm">
          {file.name}: {formatCount(file.rows.length, "row")}, {formatCount(file.columns.length, "column")}.
        </p>
      </div>
      <Table>
        <TableHeader>
          <TableRow>
            <TableHead className="pl-0">Column</TableHead>
            <TableHead className="max-sm:hidden">First values</TableHead>
            <TableHead className="pr-0">Field</TableHead>
          </TableRow>
        </TableHeader>
        <TableBody>
          {file.columns.map((column) => (
            <TableRow key={column} className="[&>td]:align-middle">
              <TableCell className="w-full max-w-0 truncate pl-0 font-medium sm:w-auto sm:max-w-44">
                {column}
                {isGuessed(choices, column) ? (
                  <span className="block font-normal text-muted-foreground text-xs">
                    Guessed from its values
                  </span>
                ) : null}
              </TableCell>
              <TableCell className="w-full max-w-0 truncate text-muted-foreground max-sm:hidden">
                {firstValues(file, column)}
              </TableCell>
              <TableCell className="pr-0">
                <Select
                  className="w-40 sm:w-48"
                  aria-label={`Field of the column ${column}`}
                  value={fieldOf(mapping, column) ?? ""}
                  onChange={({ currentTarget: { value } }) =>
                    change(mapColumn(mapping, column, (value || undefined) as Field | undefined))
                  }
                >
                  <option value="">Not imported</option>
                  {fieldNames.map((field) => (
                    <option key={field} value={field}>
                      {field.replaceAll("_", " ")}
                    </option>
                  ))}
                </Select>
              </TableCell>
            </TableRow>
          ))}
        </TableBody>
      </Table>
      <fieldset className="grid gap-3">
        <legend className="pb-2 font-medium text-sm">For rows without their own value</legend>
        <div className="grid items-start gap-3 sm:grid-cols-2 lg:grid-cols-4">
          {constantFields.map(({ field, label, placeholder }) => (
            <FormField key={field} label={label}>
              {(control) => (
                <Input
                  {...control}
                  defaultValue={mapping.constants[field]}
                  placeholder={placeholder}
                  autoComplete="off"
                  onChange={({ currentTarget: { value } }) => change(setConstant(mapping, field, value))}
                />
              )}
            </FormField>
          ))}
          <FormField label="Type">
            {(control) => (
              <Select
                {...control}
                value={mapping.constants.type ?? ""}
                onChange={({ currentTarget: { value } }) => change(setConstant(mapping, "type", value))}
              >
                <option value="">Detected from the row</option>
                {types.map((type) => (
                  <option key={type} value={type}>
                    {type}
                  </option>
                ))}
              </Select>
            )}
          </FormField>
        </div>
      </fieldset>
      <div className="max-w-sm">
        <FormField
          label="Identify rows by"
          description="Prevents rows from being recorded twice. With a column of ids, importing a changed file records only its new rows."
        >
          {(control) => (
            <Select
              {...control}
              value={idColumn}
              onChange={({ currentTarget: { value } }) => onChange({ ...choices, idColumn: value })}
            >
              <option value="">This file and its line</option>
              {file.columns.map((column) => (
                <option key={column} value={column}>
                  The column {column}
                </option>
              ))}
            </Select>
          )}
        </FormField>
      </div>
      <ChooseReadings choices={choices} settled={settled} onChange={onChange} />
      <Preview file={file} mapping={settled.mapping} />
      {problem ? <p className="text-sm text-warning">{problem}</p> : null}
      <div className="flex flex-wrap gap-2">
        <Button onClick={onDone} disabled={problem !== undefined}>
          Check the rows
        </Button>
        <Button variant="outline" onClick={onBack}>
          Choose another file
        </Button>
      </div>
    </>
  );
}

function isGuessed({ mapping, guessed }: Choices, column: string): boolean {
  const field = fieldOf(mapping, column);
  return field !== undefined && guessed?.has(field) === true;
}

function firstValues({ rows }: ChosenFile, column: string): string {
  const values = rows.slice(0, 20).flatMap((row) => ("values" in row ? [row.values[column] ?? ""] : []));
  return [...new Set(values.filter(Boolean))].slice(0, 3).join(", ");
}
