"use client";

import { Archive, ArchiveRestore, Pencil } from "lucide-react";
import { useState } from "react";
import { callApi } from "@/components/api";
import { ActionsMenu } from "@/components/ui/actions-menu";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { DropdownMenuItem } from "@/components/ui/dropdown-menu";
import { toast } from "@/components/ui/toaster";
import { useMutation } from "@/components/use-mutation";
import type { project as projectSchema, updateProjectRequest } from "@/lib/contract/projects";
import { RenameProject } from "./rename-project";

/** What the menu needs to know of a project. */
export type ProjectInHand = { slug: string; name: string; isArchived: boolean };

/** What members may do with a project: rename it, archive it, take it back into use. */
export function ProjectActions({ workspace, project }: { workspace: string; project: ProjectInHand }) {
  const [dialog, setDialog] = useState<"rename" | "archive">();
  const { run } = useMutation((changes: { name?: string; archived?: boolean }) =>
    callApi<typeof projectSchema, typeof updateProjectRequest>(
      "PATCH",
      `/api/v1/workspaces/${workspace}/projects/${project.slug}`,
      changes,
    ),
  );
  const restore = async () => {
    if (await run({ archived: false })) toast(`${project.name} is in use again.`);
  };
  const archive = async () => {
    if (await run({ archived: true })) toast(`${project.name} is archived.`, { label: "Undo", run: restore });
  };
  const close = () => setDialog(undefined);
  return (
    <>
      <ActionsMenu name={project.name} outlined className="size-8">
        <DropdownMenuItem onSelect={() => setDialog("rename")}>
          <Pencil aria-hidden="true" />
          Rename
        </DropdownMenuItem>
        {project.isArchived ? (
          <DropdownMenuItem onSelect={restore}>
            <ArchiveRestore aria-hidden="true" />
            Use again
          </DropdownMenuItem>
        ) : (
          <DropdownMenuItem onSelect={() => setDialog("archive")}>
            <Archive aria-hidden="true" />
            Archive
          </DropdownMenuItem>
        )}
      </ActionsMenu>
      <RenameProject
        open={dialog === "rename"}
        onClose={close}
        workspace={workspace}
        slug={project.slug}
        name={project.name}
      />
      <ConfirmDialog
        open={dialog === "archive"}
        onOpenChange={close}
        title={`Archive ${project.name}?`}
        confirm="Archive"
        destructive={false}
        onConfirm={archive}
      >
        It is left out where a project is chosen from. Its spend stays in every sum, and messages to{" "}
        <strong>{project.slug}</strong> are still recorded. You can use it again at any time.
      </ConfirmDialog>
    </>
  );
}
