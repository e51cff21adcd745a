import type { ReactNode } from "react";

/** A heading with a link to its section, which appears on hover. */
export function LinkedHeading({
  id,
  level,
  children,
  className,
}: {
  id: string;
  level: 2 | 3;
  children: ReactNode;
  className?: string;
}) {
  const Heading = level === 2 ? "h2" : "h3";
  return (
    <Heading className={`group/anchor ${className ?? ""}`}>
      {children}
      <a
        href={`#${id}`}
        aria-label="Link to this section"
        className="ml-2 rounded-sm font-normal text-muted-foreground opacity-0 transition-opacity print:hidden hover:text-foreground focus-visible:opacity-100 group-hover/anchor:opacity-100"
      >
        #
      </a>
    </Heading>
  );
}
