import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { AuthCard, TextLink } from "@/components/auth/auth-card";
import { SignInForm } from "@/components/auth/forms";
import { ProviderLinks } from "@/components/auth/provider-links";
import { Alert } from "@/components/ui/alert";
import { explainProblem } from "@/lib/access/sign-in/explain-error";
import { currentUser, sessionUser } from "@/lib/access/sign-in/page-session";
import { linksToProviders } from "@/lib/access/sign-in/providers";
import { safePath, withNext } from "@/lib/access/sign-in/safe-path";
import { signIn } from "../actions";
import { explainAddressChange } from "../address-changes";

export const metadata: Metadata = { title: "Sign in" };

/** The sign-in page. `next`: the path to open afterwards. `problem`, `address`: the outcome of a link or of a sign-in elsewhere. */
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
            No account yet? <TextLink href={withNext("/sign-up", next)}>Create one</TextLink>
          </p>
          <p>
            Or have <TextLink href={withNext("/sign-in/link", next)}>a link sent to you</TextLink>
          </p>
        </>
      }
    >
      {problem ? <Alert variant="warning">{explainProblem(problem)}</Alert> : null}
      {addressChange ? (
        <Alert role="status" variant={address === "failed" ? "warning" : "default"}>
          {addressChange}
        </Alert>
      ) : null}
      <ProviderLinks providers={await linksToProviders(next)} />
      <SignInForm action={signIn} {...(next && { next })} />
    </AuthCard>
  );
}
