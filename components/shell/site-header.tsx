import { buttonVariants } from "@/components/ui/button";
import { Link } from "@/components/ui/link";
import { Mark } from "./mark";
import { ThemeToggle } from "./theme-toggle";

/** The header of pages outside a workspace. `place` is the name of the page, shown beside the logo. */
export function SiteHeader({ place }: { place?: string }) {
  return (
    <header className="sticky top-0 z-30 border-b bg-background">
      <div className="mx-auto flex h-14 max-w-[1440px] items-center gap-2 px-4 sm:px-6">
        <Link
          href="/"
          className="flex items-center gap-2 rounded-sm font-semibold tracking-tight"
          aria-label="Outlay, start page"
        >
          <Mark className="size-5" />
          Outlay
        </Link>
        {place ? (
          <span className="flex items-center gap-2 text-muted-foreground text-sm">
            <span aria-hidden="true" className="text-border">
              /
            </span>
            {place}
          </span>
        ) : null}
        {/* Columns of fixed width keep what is there in its place while the rest of the HTML arrives. */}
        <div className="ml-auto grid grid-cols-[--spacing(9)_--spacing(16)] items-center gap-1">
          <ThemeToggle />
          <Link href="/sign-in" className={buttonVariants({ variant: "outline", size: "sm" })}>
            Sign in
          </Link>
        </div>
      </div>
    </header>
  );
}
