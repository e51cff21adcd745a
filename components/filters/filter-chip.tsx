import { X } from "lucide-react";
import { Link } from "@/components/ui/link";

/** A filter in effect, with the link that removes it. */
export function FilterChip({ label, value, href }: { label: string; value: string; href: string }) {
  return (
    <span className="inline-flex h-8 max-w-full items-center rounded-md border bg-secondary text-[13px]">
      <span className="truncate pl-2.5">
        <span className="text-muted-foreground">{label}</span> {value}
      </span>
      <Link
        href={href}
        scroll={false}
        aria-label={`Remove the filter ${label}: ${value}`}
        className="flex h-full w-8 shrink-0 items-center justify-center rounded-md text-muted-foreground hover:text-foreground"
      >
        <X aria-hidden="true" className="size-3.5" />
      </Link>
    </span>
  );
}
