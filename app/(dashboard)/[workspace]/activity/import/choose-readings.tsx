"use client";

import { formatCount } from "@/components/figures/format-count";
import { Badge } from "@/components/ui/badge";
import { FormField } from "@/components/ui/form-field";
import { Select } from "@/components/ui/select";
import { type DayOrder, type DecimalMark, readDate, readNumber } from "@/lib/ledger/import/notation";
import { type ProjectReading, type Question, settled } from "@/lib/ledger/import/readings";
import type { Choices } from "./chosen-file";
import type { Settled } from "./settle-choices";

const marks: [DecimalMark, string][] = [
  ["point", "1,234.56"],
  ["comma", "1.234,56"],
];
const orders: [DayOrder, string][] = [
  ["dmy", "day first"],
  ["mdy", "month first"],
];
const shownNames = 8;

/** Asks how to read numbers, dates and project names of the file, if they are ambiguous or not in the service's own format. */
export function ChooseReadings({
  choices,
  settled: { questions, names },
  onChange,
}: {
  choices: Choices;
  settled: Settled;
  onChange: (choices: Choices) => void;
}) {
  const { readings = {} } = choices;
  if (!questions.decimals && !questions.dates && names.length === 0) return null;
  return (
    <fieldset className="grid gap-3">
      <legend className="pb-2 font-medium text-sm">How the file is written</legend>
      <div className="grid items-start gap-3 sm:grid-cols-2">
        {questions.decimals ? (
          <ReadingField
            label="Numbers"
            question={questions.decimals}
            options={marks}
            chosen={readings.decimals}
            read={readNumber}
            onChange={(decimals) => onChange({ ...choices, readings: { ...readings, decimals } })}
          />
        ) : null}
        {questions.dates ? (
          <ReadingField
            label="Dates"
            question={questions.dates}
            options={orders}
            chosen={readings.dates}
            read={readDate}
            onChange={(dates) => onChange({ ...choices, readings: { ...readings, dates } })}
          />
        ) : null}
      </div>
      {names.length > 0 ? (
        <NamesField
          names={names}
          takesNames={choices.takesNames}
          onChange={(takesNames) => onChange({ ...choices, takesNames })}
        />
      ) : null}
    </fieldset>
  );
}

/** One question, with the result of an example under each reading. Nothing is preselected if several readings are possible. */
function ReadingField<Reading extends string>({
  label,
  question,
  options,
  chosen,
  read,
  onChange,
}: {
  label: string;
  question: Question<Reading>;
  options: [Reading, string][];
  chosen: Reading | undefined;
  read: (text: string, reading: Reading) => string | undefined;
  onChange: (reading: Reading | undefined) => void;
}) {
  const value = settled(chosen, question) ?? "";
  const { example } = question;
  const isOpen = question.options.length > 1;
  return (
    <FormField
      label={label}
      description={
        isOpen
          ? `“${example}” can be read in two ways. Nothing is recorded before you choose.`
          : `“${example}” and the others can be read in this way alone.`
      }
    >
      {(control) => (
        <Select
          {...control}
          value={value}
          onChange={({ currentTarget }) =>
            onChange((currentTarget.value || undefined) as Reading | undefined)
          }
        >
          {value === "" ? <option value="">Choose</option> : null}
          {options.map(([reading, name]) => {
            const result = read(example, reading);
            return (
              <option key={reading} value={reading}>
                {`As ${name}: ${example} is ${result ?? "refused"}`}
              </option>
            );
          })}
        </Select>
      )}
    </FormField>
  );
}

/** Shows the projects that the names in the file are read as, and asks whether to accept them. */
function NamesField({
  names,
  takesNames,
  onChange,
}: {
  names: ProjectReading[];
  takesNames: boolean | undefined;
  onChange: (takesNames: boolean | undefined) => void;
}) {
  return (
    <div className="grid gap-2">
      <FormField
        label="Project names"
        description={`${formatCount(names.length, "value")} of the project's column ${names.length === 1 ? "is a name, not a slug" : "are names, not slugs"}.`}
      >
        {(control) => (
          <Select
            {...control}
            className="max-w-md"
            value={takesNames === undefined ? "" : String(takesNames)}
            onChange={({ currentTarget: { value } }) => onChange(value === "" ? undefined : value === "true")}
          >
            {takesNames === undefined ? <option value="">Choose</option> : null}
            <option value="true">Use the projects shown below</option>
            <option value="false">Refuse these rows</option>
          </Select>
        )}
      </FormField>
      <ul className="grid gap-1 text-sm">
        {names.slice(0, shownNames).map(({ name, slug, isNew }) => (
          <li key={name} className="flex flex-wrap items-baseline gap-x-2">
            <span className="min-w-0 break-words">{name}</span>
            <span className="text-muted-foreground">is</span>
            {slug === undefined ? (
              <span className="text-warning">refused: write the slug of the project that you mean</span>
            ) : (
              <>
                <code className="font-mono text-[13px]">{slug}</code>
                {isNew ? <Badge variant="outline">New project</Badge> : null}
              </>
            )}
          </li>
        ))}
      </ul>
      {names.length > shownNames ? (
        <p className="text-muted-foreground text-sm">and {names.length - shownNames} more</p>
      ) : null}
    </div>
  );
}
