"use client";

import { useState } from "react";
import { Button } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/checkbox";
import { FormField } from "@/components/ui/form-field";
import { Input } from "@/components/ui/input";
import { Select } from "@/components/ui/select";
import type { Permission } from "@/lib/contract/access/permissions";
import { summarizeKey } from "@/lib/contract/access/summarize-key";
import { ExactNumber } from "@/lib/contract/values/exact-number";

/** A workspace that the program can be connected to: the permissions that the user can grant, and the present ones (`current`). */
export type WorkspaceChoice = {
  slug: string;
  name: string;
  role: string;
  grantable: readonly Permission[];
  projects: { slug: string; name: string }[];
  current: { permissions: readonly Permission[]; project: string | null; monthlyLimit: string | null } | null;
};

/** Labels of the permissions, in the order of the contract. The contract's own list would add zod to the bundle. */
const labels: Record<Permission, { label: string; description: string }> = {
  log_usage: { label: "Record usage", description: "Which models and APIs were used, and what they cost." },
  add_expenses: { label: "Add expenses", description: "One-off costs, like an invoice." },
  manage_subscriptions: { label: "Manage subscriptions", description: "Recurring charges." },
  read_summaries: { label: "Read spend", description: "Totals by month and project, budgets, and alerts." },
  manage_alerts: {
    label: "Manage alerts",
    description: "Take, snooze and resolve alerts in your name, as far as your role may.",
  },
};

const permissions = Object.keys(labels) as Permission[];

/**
 * Asks the user to allow a program to use a workspace. It is a plain form that is answered with a redirect to the program,
 * so it also works before the page's scripts are loaded, for the first workspace.
 */
export function ConsentForm({
  nonce,
  wanted,
  workspaces,
  program,
}: {
  nonce: string;
  wanted: readonly Permission[];
  workspaces: readonly WorkspaceChoice[];
  program: string;
}) {
  const [slug, setSlug] = useState(workspaces[0]?.slug ?? "");
  const workspace = workspaces.find((each) => each.slug === slug);
  return (
    <form action="/oauth/consent" method="post" className="grid gap-5">
      <input type="hidden" name="nonce" value={nonce} />
      <FormField label="Workspace">
        {(control) => (
          <Select
            {...control}
            name="workspace"
            value={slug}
            onChange={(event) => setSlug(event.target.value)}
          >
            {workspaces.map((each) => (
              <option key={each.slug} value={each.slug}>
                {each.name}
              </option>
            ))}
          </Select>
        )}
      </FormField>
      {workspace ? (
        <GrantFields key={workspace.slug} workspace={workspace} wanted={wanted} program={program} />
      ) : null}
    </form>
  );
}

/** The permissions of all tools, which most clients request by default. */
const everyTool: readonly Permission[] = ["log_usage", "add_expenses", "read_summaries"];

/**
 * The permissions that are ticked initially: those that the program has now, otherwise those that it requests. Most clients request
 * all permissions of the tools regardless of what they need; in that case only reading is ticked.
 */
export function permissionsToTick(
  { grantable, current }: Pick<WorkspaceChoice, "grantable" | "current">,
  wanted: readonly Permission[],
): readonly Permission[] {
  const requested = grantable.filter((each) => wanted.includes(each));
  if (current) return requested.filter((each) => current.permissions.includes(each));
  const asksForAll = everyTool.every((each) => wanted.includes(each));
  return asksForAll ? requested.filter((each) => each === "read_summaries") : requested;
}

function GrantFields({
  workspace,
  wanted,
  program,
}: {
  workspace: WorkspaceChoice;
  wanted: readonly Permission[];
  program: string;
}) {
  const { grantable, projects, current, role } = workspace;
  const [chosen, setChosen] = useState(() => permissionsToTick(workspace, wanted));
  const [project, setProject] = useState(current?.project ?? "");
  const [limit, setLimit] = useState(current?.monthlyLimit ?? "");
  const requested = permissions.filter((each) => wanted.includes(each));
  const writes = chosen.some((each) => each !== "read_summaries");
  const granted = permissions.filter(
    (each) => chosen.includes(each) || (each === "read_summaries" && writes),
  );
  const ended = permissions.filter((each) => current?.permissions.includes(each) && !granted.includes(each));
  const toggle = (permission: Permission, isOn: boolean) =>
    setChosen(isOn ? [...chosen, permission] : chosen.filter((each) => each !== permission));
  return (
    <>
      <fieldset className="grid gap-3">
        <legend className="pb-2.5 font-medium text-sm">{program} may</legend>
        {requested.map((permission) => {
          const isImplied = permission === "read_summaries" && writes;
          const isHeld = grantable.includes(permission);
          const about = isImplied ? "Included with the others." : labels[permission].description;
          return (
            <Checkbox
              key={permission}
              name="permission"
              value={permission}
              label={labels[permission].label}
              description={isHeld ? about : `A ${role} of this workspace cannot grant this.`}
              checked={granted.includes(permission)}
              // A disabled box is not sent. The service adds the read permission to every permission to write.
              disabled={!isHeld || isImplied}
              onChange={(event) => toggle(permission, event.target.checked)}
            />
          );
        })}
      </fieldset>
      <div className="grid gap-5 sm:grid-cols-2 sm:gap-4">
        <FormField label="Project">
          {(control) => (
            <Select
              {...control}
              name="project"
              value={project}
              onChange={(event) => setProject(event.target.value)}
            >
              <option value="">All projects</option>
              {projects.map((each) => (
                <option key={each.slug} value={each.slug}>
                  {each.name}
                </option>
              ))}
            </Select>
          )}
        </FormField>
        <FormField label="Monthly limit, USD">
          {(control) => (
            <Input
              {...control}
              name="monthly_limit"
              inputMode="decimal"
              pattern="\d{1,15}(\.\d{1,18})?"
              title="An amount, like 50 or 12.50"
              placeholder="No limit"
              autoComplete="off"
              value={limit}
              onChange={(event) => setLimit(event.target.value)}
            />
          )}
        </FormField>
      </div>
      <p aria-live="polite" className="rounded-md border bg-muted px-3.5 py-2.5 text-sm">
        {summarizeKey({
          permissions: granted,
          project: project ? { slug: project } : null,
          monthly_limit: /^\d+(\.\d+)?$/.test(limit) ? new ExactNumber(limit) : null,
        })}
        {current ? " This replaces what it may do here now." : null}
        {ended.length > 0 ? ` This ends: ${ended.map((each) => labels[each].label).join(", ")}.` : null}
      </p>
      <div className="grid grid-cols-2 gap-2.5">
        <Button
          type="submit"
          name="decision"
          value="deny"
          variant="outline"
          formNoValidate
          className="h-10 sm:h-9"
        >
          Deny
        </Button>
        <Button
          type="submit"
          name="decision"
          value="allow"
          disabled={granted.length === 0}
          className="h-10 sm:h-9"
        >
          Allow
        </Button>
      </div>
    </>
  );
}
