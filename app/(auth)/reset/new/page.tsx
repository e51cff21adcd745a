import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { chooseNewPassword } from "@/app/(auth)/actions";
import { AuthCard } from "@/components/auth/auth-card";
import { NewPasswordForm } from "@/components/auth/forms";
import { beganByRecentMail } from "@/lib/access/sign-in/began-by-mail";
import { currentUser, sessionUser } from "@/lib/access/sign-in/page-session";
import { withNext } from "@/lib/access/sign-in/safe-path";

export const metadata: Metadata = { title: "Choose a new password" };

/** Asks for a new password, after the link of a reset has signed the user in. Otherwise it redirects to sign-in or reset. */
export default async function NewPasswordPage() {
  const user = await currentUser();
  if (!user && (await sessionUser())) redirect(withNext("/sign-in/code", "/reset/new"));
  if (!user) redirect("/sign-in?problem=link");
  if (!beganByRecentMail(user)) redirect("/reset");
  return (
    <AuthCard
      title="Choose a new password"
      about={`For ${user.email}. You will be signed out everywhere else.`}
    >
      <NewPasswordForm action={chooseNewPassword} />
    </AuthCard>
  );
}
