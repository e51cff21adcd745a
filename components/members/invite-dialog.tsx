"use client";

import { type FormEvent, useState } from "react";
import type { z } from "zod";
import { callApi } from "@/components/api";
import { Time } from "@/components/time";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { Radio } from "@/components/ui/checkbox";
import {
  Dialog,
  DialogClose,
  DialogContent,
  DialogDescription,
  DialogFooter,
  DialogHeader,
  DialogTitle,
} from "@/components/ui/dialog";
import { FormField } from "@/components/ui/form-field";
import { Input } from "@/components/ui/input";
import { Secret } from "@/components/ui/secret";
import { Select } from "@/components/ui/select";
import { useMutation } from "@/components/use-mutation";
import type { createdInvitation, createInvitationRequest, Invitation } from "@/lib/contract/invitations";
import { roles, withArticle } from "./person";

type Created = z.output<typeof createdInvitation>;

const terms = [
  { days: 1, label: "A day" },
  { days: 7, label: "A week" },
  { days: 30, label: "30 days" },
];

/** Invites somebody by a link, which is in sight this once. */
export default function InviteDialog(props: { workspace: string; name: string; onClose: () => void }) {
  const [created, setCreated] = useState<Created>();
  const [isLeaving, setLeaving] = useState(false);
  // A link that was shown cannot be shown again: only the button at the end closes it at once.
  const close = created ? () => setLeaving(true) : props.onClose;
  return (
    <Dialog open onOpenChange={close}>
      <DialogContent guarded={created !== undefined} className="sm:max-w-md">
        {created ? (
          <Link {...created} isLeaving={isLeaving} onClose={props.onClose} />
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
  const creation = useMutation(
    (request: z.input<typeof createInvitationRequest>) =>
      callApi<typeof createdInvitation, typeof createInvitationRequest>(
        "POST",
        `/api/v1/workspaces/${workspace}/invitations`,
        request,
      ),
    { quiet: true },
  );
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const created = await creation.run({
      role: String(form.get("role")) as Invitation["role"],
      email: String(form.get("email")).trim() || null,
      expires_in_days: Number(form.get("days")),
    });
    if (created) onCreated(created);
  };
  const { formProblem, fieldErrors } = creation;
  return (
    <form onSubmit={submit} noValidate className="grid gap-5">
      <DialogHeader>
        <DialogTitle>Invite somebody to {name}</DialogTitle>
        <DialogDescription>You get a link to send them. No mail is sent.</DialogDescription>
      </DialogHeader>
      <fieldset className="grid gap-2.5">
        <legend className="pb-2 font-medium text-sm">As what?</legend>
        {roles
          .filter(({ value }) => value !== "owner")
          .map(({ value, label, may }) => (
            <Radio
              key={value}
              name="role"
              value={value}
              label={label}
              description={may}
              defaultChecked={value === "member"}
            />
          ))}
      </fieldset>
      <FormField
        label="For one address alone"
        optional
        description="Left empty, whoever has the link can join."
        error={fieldErrors.email}
      >
        {(control) => (
          <Input
            {...control}
            name="email"
            type="email"
            placeholder="grace@example.com"
            maxLength={255}
            autoComplete="off"
          />
        )}
      </FormField>
      <FormField label="Good for" error={fieldErrors.expires_in_days}>
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
      {formProblem ? <Alert variant="destructive">{formProblem}</Alert> : null}
      <DialogFooter>
        <DialogClose>Cancel</DialogClose>
        <Button type="submit" disabled={creation.isPending}>
          Make the link
        </Button>
      </DialogFooter>
    </form>
  );
}

function Link({
  invitation,
  link,
  isLeaving,
  onClose,
}: Created & { isLeaving: boolean; onClose: () => void }) {
  return (
    <>
      <DialogHeader>
        <DialogTitle>The link to join</DialogTitle>
        <DialogDescription>
          {invitation.email
            ? `Send it to ${invitation.email}, who alone can use it.`
            : "Send it to whom it is for: whoever has it can join."}{" "}
          It makes them {withArticle(invitation.role)}, works once, and expires{" "}
          <Time at={invitation.expires_at} />. It is shown this once.
        </DialogDescription>
      </DialogHeader>
      <Secret secret={link} label="invitation link" />
      {isLeaving ? (
        <Alert variant="warning">
          Once this is closed, nobody can show the link again. If you have copied it, close it below.
        </Alert>
      ) : null}
      <DialogFooter>
        <Button onClick={onClose}>I have copied it</Button>
      </DialogFooter>
    </>
  );
}
