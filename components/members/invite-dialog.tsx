"use client";

import { useState } from "react";
import type { z } from "zod";
import { Time } from "@/components/figures/time";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { Radio } from "@/components/ui/checkbox";
import {
  Dialog,
  DialogContent,
  DialogDescription,
  DialogFooter,
  DialogHeader,
  DialogTitle,
} from "@/components/ui/dialog";
import { DialogFormFooter } from "@/components/ui/dialog-form-footer";
import { Form, textOf } from "@/components/ui/form";
import { FormField, TextField } from "@/components/ui/form-field";
import { Secret } from "@/components/ui/secret";
import { Select } from "@/components/ui/select";
import type {
  createdInvitation,
  createInvitationRequest,
  Invitation,
} from "@/lib/contract/access/invitations";
import { roles, withArticle } from "./person";

type Created = z.output<typeof createdInvitation>;

const terms = [
  { days: 1, label: "A day" },
  { days: 7, label: "A week" },
  { days: 30, label: "30 days" },
];

/** Creates an invitation and then shows its link, which cannot be shown again. */
export default function InviteDialog(props: { workspace: string; name: string; onClose: () => void }) {
  const [created, setCreated] = useState<Created>();
  const [isLeaving, setLeaving] = useState(false);
  // Once the link is shown, only the button below it closes the dialog; other ways show a warning.
  const close = created ? () => setLeaving(true) : props.onClose;
  return (
    <Dialog open onOpenChange={close}>
      <DialogContent guarded={created !== undefined} className="sm:max-w-md">
        {created ? (
          <InvitationLink {...created} isLeaving={isLeaving} onClose={props.onClose} />
        ) : (
          <InviteForm {...props} onCreated={setCreated} />
        )}
      </DialogContent>
    </Dialog>
  );
}

function InviteForm({
  workspace,
  name,
  onCreated,
}: {
  workspace: string;
  name: string;
  onCreated: (created: Created) => void;
}) {
  const { run, isPending, problem, fieldErrors } = useMutation(
    (request: z.input<typeof createInvitationRequest>) =>
      callApi<typeof createdInvitation, typeof createInvitationRequest>(
        "POST",
        `/api/v1/workspaces/${workspace}/invitations`,
        request,
      ),
    { quiet: true },
  );
  const submit = async (fields: FormData) => {
    const created = await run({
      role: textOf(fields, "role") as Invitation["role"],
      email: textOf(fields, "email") || null,
      expires_in_days: Number(fields.get("days")),
    });
    if (created) onCreated(created);
  };
  return (
    <Form onSubmit={submit} noValidate className="grid gap-5">
      <DialogHeader>
        <DialogTitle>Invite someone to {name}</DialogTitle>
        <DialogDescription>You get a link to send them. No mail is sent.</DialogDescription>
      </DialogHeader>
      <fieldset className="grid gap-2.5">
        <legend className="pb-2 font-medium text-sm">Role</legend>
        {roles
          .filter(({ value }) => value !== "owner")
          .map(({ value, label, description }) => (
            <Radio
              key={value}
              name="role"
              value={value}
              label={label}
              description={description}
              defaultChecked={value === "member"}
            />
          ))}
      </fieldset>
      <TextField
        label="Only for this e-mail address"
        optional
        description="Leave empty to let anyone with the link join."
        error={fieldErrors.email}
        name="email"
        type="email"
        placeholder="grace@example.com"
        maxLength={255}
        autoComplete="off"
      />
      <FormField label="Expires after" error={fieldErrors.expires_in_days}>
        {(control) => (
          <Select {...control} name="days" defaultValue={7}>
            {terms.map(({ days, label }) => (
              <option key={days} value={days}>
                {label}
              </option>
            ))}
          </Select>
        )}
      </FormField>
      <DialogFormFooter submit="Create the link" isPending={isPending} problem={problem} />
    </Form>
  );
}

function InvitationLink({
  invitation,
  link,
  isLeaving,
  onClose,
}: Created & { isLeaving: boolean; onClose: () => void }) {
  return (
    <>
      <DialogHeader>
        <DialogTitle>Invitation link</DialogTitle>
        <DialogDescription>
          {invitation.email
            ? `Send it to ${invitation.email}. Nobody else can use it.`
            : "Send it to the person you invite. Anyone who has it can join."}{" "}
          It makes them {withArticle(invitation.role)}, works once, and expires{" "}
          <Time at={invitation.expires_at} />. It is shown only once.
        </DialogDescription>
      </DialogHeader>
      <Secret secret={link} label="invitation link" />
      {isLeaving ? (
        <Alert variant="warning">
          The link cannot be shown again after you close this. If you have copied it, use the button below.
        </Alert>
      ) : null}
      <DialogFooter>
        <Button onClick={onClose}>I have copied it</Button>
      </DialogFooter>
    </>
  );
}
