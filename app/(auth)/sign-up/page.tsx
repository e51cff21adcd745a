import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { AuthCard, TextLink } from "@/components/auth/auth-card";
import { SignUpForm } from "@/components/auth/forms";
import { ProviderLinks } from "@/components/auth/provider-links";
import { currentUser, sessionUser } from "@/lib/access/sign-in/page-session";
import { linksToProviders } from "@/lib/access/sign-in/providers";
import { safePath, withNext } from "@/lib/access/sign-in/safe-path";
import { signUp } from "../actions";

export const metadata: Metadata = { title: "Create an account" };

/** The page that creates an account, which comes with a personal workspace. */
export default async function SignUpPage({
  searchParams,
}: {
  searchParams: Promise<Record<string, string>>;
}) {
  const { next } = await searchParams;
  if (await currentUser()) redirect(safePath(next));
  if (await sessionUser()) redirect(withNext("/sign-in/code", next));
  return (
    <AuthCard
      title="Create an account"
      about="It comes with a workspace of your own."
      footer={
        <p>
          Do you have one already? <TextLink href={withNext("/sign-in", next)}>Sign in</TextLink>
        </p>
      }
    >
      <ProviderLinks providers={await linksToProviders(next)} />
      <SignUpForm action={signUp} {...(next && { next })} />
    </AuthCard>
  );
}
