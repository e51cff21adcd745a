import { Alert } from "./alert";
import { Button } from "./button";
import { DialogClose, DialogFooter } from "./dialog";

/** The end of a form in a dialog: a problem that belongs to no field, Cancel, and the button that sends the form. */
export function DialogFormFooter({
  submit,
  isPending,
  problem,
  destructive = false,
}: {
  /** Label of the button. */
  submit: string;
  isPending: boolean;
  problem: string | undefined;
  destructive?: boolean;
}) {
  return (
    <>
      {problem ? <Alert variant="destructive">{problem}</Alert> : null}
      <DialogFooter>
        <DialogClose>Cancel</DialogClose>
        <Button type="submit" variant={destructive ? "destructive" : "default"} disabled={isPending}>
          {submit}
        </Button>
      </DialogFooter>
    </>
  );
}
