import { Method } from "./method";
import type { Resource } from "./reference";

/**
 * A list of all endpoints with links to their descriptions. The reference used to be a single page: old links, such as
 * `/docs#post-messages`, lead to an entry of this list, and a script follows it.
 */
export function EndpointIndex({ resources }: { resources: Resource[] }) {
  return resources.map(({ name, path, endpoints }) => (
    <section key={name} aria-label={name}>
      <h3 className="font-medium text-sm">
        <a
          id={`resource-${path.slice("/docs/".length)}`}
          data-moved=""
          href={path}
          className="hover:underline"
        >
          {name}
        </a>
      </h3>
      <ul className="mt-1 divide-y border-y">
        {endpoints.map(({ id, method, path: address, summary }) => (
          <li key={id}>
            <a
              id={id}
              data-moved=""
              href={`${path}#${id}`}
              className="grid gap-x-3 py-1.5 text-sm target:bg-accent hover:bg-accent sm:grid-cols-[1fr_auto]"
            >
              <span>{summary}</span>
              <span className="flex min-w-0 items-baseline gap-2 text-muted-foreground">
                <Method method={method} className="text-[10px]" />
                <code className="font-mono text-xs [overflow-wrap:anywhere]">{address}</code>
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  ));
}

/** Links to the other pages of the guide, with the ids that their sections had when the reference was a single page. */
export function GuideIndex({ sections }: { sections: { id: string; label: string; path: string }[] }) {
  return (
    <ul className="divide-y border-y">
      {sections.map(({ id, label, path }) => (
        <li key={id}>
          <a
            id={id}
            data-moved=""
            href={`${path}#${id}`}
            className="block py-1.5 text-sm target:bg-accent hover:bg-accent"
          >
            {label}
          </a>
        </li>
      ))}
    </ul>
  );
}
