/** A page in the contents, with its sections. */
export type NavPage = { path: string; title: string; sections: { id: string; label: string }[] };

/** A group of pages in the contents. */
export type NavGroup = { name: string; pages: NavPage[] };

/**
 * The contents: all pages, and the sections of the current one. They are at the side, or folded away below the header on a
 * phone. They consist of links and a `details` element, so that they work without scripts.
 */
export function DocsNav({ groups, current }: { groups: NavGroup[]; current: string }) {
  const title = groups.flatMap(({ pages }) => pages).find(({ path }) => path === current)?.title;
  return (
    <>
      <details data-contents="" className="group sticky top-14 z-20 border-b bg-background lg:hidden">
        <summary className="flex h-11 list-none items-center gap-2 px-4 text-sm sm:px-6 [&::-webkit-details-marker]:hidden">
          <span
            aria-hidden="true"
            className="inline-block text-muted-foreground transition-transform duration-100 group-open:rotate-90"
          >
            ›
          </span>
          Contents
          <span className="truncate text-muted-foreground">{title}</span>
        </summary>
        <div className="max-h-[70dvh] overflow-y-auto border-t px-4 py-4 sm:px-6">
          <NavList groups={groups} current={current} />
        </div>
      </details>
      <aside className="sticky top-14 hidden h-[calc(100dvh-3.5rem)] w-60 shrink-0 overflow-y-auto border-r py-6 pr-4 lg:block">
        <NavList groups={groups} current={current} />
      </aside>
    </>
  );
}

function NavList({ groups, current }: { groups: NavGroup[]; current: string }) {
  return (
    <nav aria-label="Contents" className="space-y-5">
      {groups.map(({ name, pages }) => (
        <div key={name}>
          <p className="mb-1 px-2 font-medium text-muted-foreground text-xs">{name}</p>
          <ul>
            {pages.map(({ path, title, sections }) => (
              <li key={path}>
                <a href={path} aria-current={path === current ? "page" : undefined} className="nav-link">
                  {title}
                </a>
                {path === current && sections.length > 1 ? (
                  <ul className="my-1 ml-2 border-l pl-1.5">
                    {sections.map(({ id, label }) => (
                      <li key={id}>
                        <a href={`#${id}`} className="nav-link">
                          {label}
                        </a>
                      </li>
                    ))}
                  </ul>
                ) : null}
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}
