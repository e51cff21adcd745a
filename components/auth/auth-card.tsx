import type { ReactNode } from "react";
import { Mark } from "@/components/shell/mark";
import { Link } from "@/components/ui/link";

/** A page with one form, if any: title, text, form and footer. */
export function AuthCard({
  title,
  about,
  footer,
  children,
}: {
  title: string;
  about?: ReactNode;
  footer?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <main className="mx-auto flex w-full max-w-sm flex-col gap-6 px-6 pt-[max(3rem,14dvh)] pb-12">
      <header className="grid gap-2">
        <Link href="/" aria-label="Outlay, start page" className="w-fit rounded-sm">
          <Mark className="size-7" />
        </Link>
        <h1 className="pt-2 font-semibold text-xl tracking-tight">{title}</h1>
        {about ? <p className="text-muted-foreground text-sm">{about}</p> : null}
      </header>
      {children}
      {footer ? <footer className="grid gap-1.5 text-muted-foreground text-sm">{footer}</footer> : null}
    </main>
  );
}

/** A link within a sentence. */
export function TextLink({ href, children }: { href: string; children: ReactNode }) {
  return (
    <Link href={href} className="text-foreground underline decoration-border underline-offset-4">
      {children}
    </Link>
  );
}
