"use client";

import { useState } from "react";
import type { KeyFormPart } from "@/components/keys/key-form-part";
import { type KeyForm, newKeyForm, parseKeyForm } from "@/components/keys/key-form-state";
import { ProjectChoice } from "@/components/keys/project-choice";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { usePoll } from "@/components/requests/use-poll";
import { useProjectList } from "@/components/shell/use-project-list";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/checkbox";
import { Form } from "@/components/ui/form";
import { TextField } from "@/components/ui/form-field";
import { Secret } from "@/components/ui/secret";
import { Step } from "@/components/ui/step";
import type { apiKeyWithSecret, createApiKeyRequest } from "@/lib/contract/access/api-keys";
import { type SourceProgram, sourcePrograms } from "@/lib/contract/sources/source-programs";
import type { source } from "@/lib/contract/sources/sources";
import { freeName } from "@/lib/contract/values/free-name";
import { FirstRecord } from "./first-record";
import { programs } from "./programs";
import { SetupGuide } from "./setup-guide";
import { type SourceView, toSourceView } from "./source-view";

/** A key that was made for a source, with its secret. `project`: its project if it has exactly one. */
type Created = {
  id: string;
  secret: string;
  summary: string;
  program: SourceProgram;
  project: string | undefined;
};

const check = (form: KeyForm) => parseKeyForm(form).errors;

/**
 * Adds a source in four steps: choose the program, create its key, paste the lines with the key, see the first record. The secret
 * is shown until the page is left.
 * @param props.url the address of this service
 * @param props.takenNames the names of the workspace's keys
 * @param props.chosen the initially chosen program
 */
export function AddSource({
  workspace,
  url,
  takenNames,
  chosen,
}: {
  workspace: string;
  url: string;
  takenNames: string[];
  chosen: SourceProgram | undefined;
}) {
  const [program, setProgram] = useState(chosen);
  const [created, setCreated] = useState<Created>();
  const source = useSource(created && `/api/v1/workspaces/${workspace}/sources/${created.id}`);
  const isReceived = (source?.recorded ?? 0) > 0;
  return (
    <ol className="grid max-w-3xl gap-8">
      <Step number={1} title="Choose what you run" isDone={created !== undefined}>
        {created ? (
          <p className="text-muted-foreground text-sm">{programs[created.program].label}</p>
        ) : (
          <ProgramChoice value={program} onChange={setProgram} />
        )}
      </Step>
      <Step number={2} title="Make a key for it" isDone={created !== undefined}>
        {created ? (
          <div className="grid gap-2">
            <Secret secret={created.secret} label="secret" />
            <p className="text-muted-foreground text-sm">
              It is shown until you leave this page. {created.summary}
            </p>
          </div>
        ) : program ? (
          <SourceKey
            key={program}
            workspace={workspace}
            program={program}
            takenNames={takenNames}
            onCreated={setCreated}
          />
        ) : (
          <p className="text-muted-foreground text-sm">The key can only log usage.</p>
        )}
      </Step>
      <Step number={3} title="Paste the lines" isDone={isReceived}>
        {created ? (
          <SetupGuide
            program={created.program}
            context={{ url, secret: created.secret, keyId: created.id, project: created.project }}
          />
        ) : (
          <p className="text-muted-foreground text-sm">They will contain your key.</p>
        )}
      </Step>
      <Step number={4} title="Watch it arrive" isDone={isReceived}>
        <div aria-live="polite">
          {created ? (
            <FirstRecord source={source} workspace={workspace} />
          ) : (
            <p className="text-muted-foreground text-sm">The first record will appear here.</p>
          )}
        </div>
      </Step>
    </ol>
  );
}

function ProgramChoice({
  value,
  onChange,
}: {
  value: SourceProgram | undefined;
  onChange: (program: SourceProgram) => void;
}) {
  return (
    <fieldset>
      <legend className="sr-only">What do you run?</legend>
      <div className="grid gap-2 sm:grid-cols-2 lg:grid-cols-3">
        {sourcePrograms.map((program) => (
          <label
            key={program}
            className="relative grid cursor-pointer content-start gap-0.5 rounded-lg border px-3.5 py-2.5 text-sm hover:bg-accent has-checked:border-primary has-checked:bg-accent has-focus-visible:outline-2 has-focus-visible:outline-ring"
          >
            <input
              type="radio"
              name="program"
              value={program}
              checked={program === value}
              onChange={() => onChange(program)}
              className="sr-only"
            />
            <span className="font-medium">{programs[program].label}</span>
            <span className="text-muted-foreground text-xs">{programs[program].description}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** The form of the key: name, allowed projects, and whether a subscription covers its usage. The page Keys has all other settings. */
function SourceKey({
  workspace,
  program,
  takenNames,
  onCreated,
}: {
  workspace: string;
  program: SourceProgram;
  takenNames: string[];
  onCreated: (created: Created) => void;
}) {
  const [form, setForm] = useState<KeyForm>({
    ...newKeyForm,
    name: freeName(programs[program].name, takenNames),
    sources: ["api"],
    recordsPastLimit: true,
  });
  const [isCovered, setIsCovered] = useState(false);
  const { subscriptions } = programs[program];
  const projects = useProjectList(workspace);
  const { run, reset, isPending, problem, fieldErrors } = useMutation(
    (given: KeyForm) =>
      callApi<typeof apiKeyWithSecret, typeof createApiKeyRequest>(
        "POST",
        `/api/v1/workspaces/${workspace}/api-keys`,
        {
          ...parseKeyForm(given).request,
          source: { program, ...(isCovered && { subscription_covered: true }) },
        },
      ),
    { check, quiet: true, refresh: false },
  );
  const part: KeyFormPart = {
    form,
    change: (changes) => {
      setForm((current) => ({ ...current, ...changes }));
      reset();
    },
    errors: fieldErrors,
  };
  const create = async () => {
    const key = await run(form);
    if (!key) return;
    const [only, ...others] = form.where === "only" ? form.projects : [];
    onCreated({
      id: key.id,
      secret: key.secret,
      summary: key.summary,
      program,
      project: others.length === 0 ? only : undefined,
    });
  };
  return (
    <Form noValidate onSubmit={create} className="grid max-w-xl gap-5">
      <TextField
        label="What is its name?"
        error={fieldErrors.name}
        value={form.name}
        onChange={({ currentTarget }) => part.change({ name: currentTarget.value })}
        maxLength={120}
        autoComplete="off"
      />
      <div className="grid gap-3">
        <ProjectChoice {...part} projects={projects} />
        <p className="text-muted-foreground text-xs">
          This is a permission, not a destination. Usage goes to the project that the program names; if it
          names none, to the only project allowed here, or else to one named after its service. Usage for a
          project that is not allowed is refused. You can set a default project on the source's page later.
        </p>
      </div>
      {subscriptions ? (
        <Checkbox
          label="A subscription covers it"
          description={`Such as ${subscriptions}. Usage is recorded as included, at no cost, with its list price for comparison.`}
          checked={isCovered}
          onChange={({ currentTarget }) => setIsCovered(currentTarget.checked)}
        />
      ) : null}
      <Checkbox
        label="Record costs past a limit"
        description="It reports calls after they were made. A monthly limit that you set for the key later then marks and alerts, and refuses nothing. A budget that blocks still refuses."
        checked={form.recordsPastLimit}
        onChange={({ currentTarget }) => part.change({ recordsPastLimit: currentTarget.checked })}
      />
      {problem ? <Alert variant="destructive">{problem}</Alert> : null}
      <Button type="submit" disabled={isPending} className="w-fit">
        Make the key
      </Button>
    </Form>
  );
}

/**
 * Polls a source until it recorded something; see `usePoll`.
 * @param path the source's path in the API; undefined while there is no source
 */
function useSource(path: string | undefined): SourceView | undefined {
  const [read, setRead] = useState<SourceView>();
  usePoll(
    async (signal) => {
      if (path !== undefined)
        setRead(toSourceView(await callApi<typeof source>("GET", path, undefined, signal)));
    },
    path === undefined || (read?.recorded ?? 0) > 0,
  );
  return read;
}
