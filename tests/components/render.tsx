import { cleanup, configure, render } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { AppRouterContext } from "next/dist/shared/lib/app-router-context.shared-runtime";
import {
  PathnameContext,
  SearchParamsContext,
} from "next/dist/shared/lib/hooks-client-context.shared-runtime";
import type { ReactNode } from "react";

// As long as tests in a browser wait: a busy machine loads a script slowly.
configure({ asyncUtilTimeout: 10_000 });

const nothing = () => {};
const router = {
  back: nothing,
  forward: nothing,
  refresh: nothing,
  push: nothing,
  replace: nothing,
  prefetch: nothing,
};

/**
 * Renders a component as a page of the dashboard does, in a document without layout.
 * @param page.address path and query of the page
 * @param page.router what the component may do with the router, of which the test wants to know
 * @returns the reader's mouse and keyboard
 */
export function show(
  component: ReactNode,
  page: { address?: string; router?: Partial<Record<keyof typeof router, (href: string) => void>> } = {},
) {
  // Files of a worker share this module, so that a hook would be the first file's alone.
  cleanup();
  const { pathname, searchParams } = new URL(page.address ?? "/acme", "http://127.0.0.1:9");
  render(
    <AppRouterContext
      value={
        { ...router, ...page.router } as unknown as NonNullable<
          Parameters<typeof AppRouterContext>[0]["value"]
        >
      }
    >
      <PathnameContext value={pathname}>
        <SearchParamsContext value={searchParams}>{component}</SearchParamsContext>
      </PathnameContext>
    </AppRouterContext>,
  );
  return userEvent.setup();
}

/** The text that describes a field: its error, or how it is filled in. */
export function describedBy(field: HTMLElement): string {
  const ids = field.getAttribute("aria-describedby")?.split(" ") ?? [];
  return ids.map((id) => document.getElementById(id)?.textContent ?? "").join(" ");
}
