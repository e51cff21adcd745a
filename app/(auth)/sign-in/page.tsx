import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { AuthCard, TextLink } from "@/components/auth/auth-card";
import { SignInForm } from "@/components/auth/forms";
import { Alert } from "@/components/ui/alert";
import { currentUser, sessionUser } from "@/lib/access/sign-in/page-session";
import { safePath, withNext } from "@/lib/access/sign-in/safe-path";
import { signIn } from "../actions";
import { explainAddressChange } from "../address-changes";

export const metadata: Metadata = { title: "Sign in" };

/** Signs in. `next` is where to go on to, `problem` and `address` what became of a link. */
export default async function SignInPage({
  searchParams,
}: {
  searchParams: Promise<Record<string, string>>;
}) {
  const { next, problem, address } = await searchParams;
  if (await currentUser()) redirect(safePath(next));
  if (await sessionUser()) redirect(withNext("/sign-in/code", next));
  const addressChange = explainAddressChange(address);
  return (
    <AuthCard
      title="Sign in"
      footer={
        <>
          <p>
            No account yet? <TextLink href={withNext("/sign-up", next)}>Make one</TextLink>
          </p>
          <p>
            Or have <TextLink href={withNext("/sign-in/link", next)}>a link sent to you</TextLink>
          </p>
        </>
      }
    >
      {problem ? (
        <p
          role="alert"
          className="rounded-md border border-warning/30 bg-warning/10 px-3.5 py-2.5 text-sm text-warning"
        >
          {problem === "browser"
            ? "Open the link in the browser in which you asked for it, or ask for a new one here."
            : "This link has been used or is too old. Ask for a new one."}
        </p>
      ) : null}
      {addressChange ? (
        <Alert role="status" variant={address === "failed" ? "warning" : "default"}>
          {addressChange}
        </Alert>
      ) : null}
      <SignInForm action={signIn} {...(next && { next })} />
    </AuthCard>
  );
}
