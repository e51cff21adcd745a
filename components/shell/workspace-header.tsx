import { ChevronsUpDown } from "lucide-react";
import Link from "next/link";
import { cn } from "@/components/cn";
import { Button } from "@/components/ui/button";
import { Mark } from "./mark";
import { ThemeToggle } from "./theme-toggle";

type Workspace = { slug: string; name: string };

/** The header of the signed-in pages: which workspace, which others, and the way out. */
export function WorkspaceHeader({
  current,
  workspaces,
  email,
  signOut,
}: {
  current: Workspace;
  workspaces: Workspace[];
  email: string;
  signOut: () => Promise<void>;
}) {
  return (
    <header className="sticky top-0 z-30 border-b bg-background/90 backdrop-blur-sm">
      <div className="mx-auto flex h-14 max-w-[1200px] items-center gap-2 px-4 sm:px-6">
        <Link href={`/${current.slug}`} aria-label="Overview" className="rounded-sm">
          <Mark className="size-5" />
        </Link>
        <Menu label={current.name} className="min-w-0 flex-1">
          {workspaces.map(({ slug, name }) => (
            <Link
              key={slug}
              href={`/${slug}`}
              aria-current={slug === current.slug ? "page" : undefined}
              className="block truncate rounded-sm px-2 py-1.5 hover:bg-accent aria-[current]:font-medium"
            >
              {name}
            </Link>
          ))}
        </Menu>
        <ThemeToggle />
        <span className="hidden max-w-56 truncate text-muted-foreground text-sm sm:block" title={email}>
          {email}
        </span>
        <form action={signOut}>
          <Button type="submit" variant="outline" size="sm">
            Sign out
          </Button>
        </form>
      </div>
    </header>
  );
}

/** A disclosure that needs no script. */
function Menu({
  label,
  className,
  children,
}: {
  label: string;
  className?: string;
  children: React.ReactNode;
}) {
  return (
    <details className={cn("group relative text-sm", className)}>
      <summary className="flex w-fit max-w-full cursor-pointer list-none items-center gap-1.5 rounded-sm px-1.5 py-1 font-medium hover:bg-accent [&::-webkit-details-marker]:hidden">
        <span className="truncate">{label}</span>
        <ChevronsUpDown className="size-3.5 shrink-0 text-muted-foreground" aria-hidden="true" />
      </summary>
      <nav
        aria-label="Workspaces"
        className="absolute top-full left-0 mt-1 w-64 max-w-[80vw] rounded-md border bg-popover p-1 text-popover-foreground shadow-lg"
      >
        {children}
      </nav>
    </details>
  );
}
