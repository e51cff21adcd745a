import type { ClientBase } from "pg";
import type { EditApiKeyRequest } from "@/lib/contract/access/api-keys";
import type { WorkspaceRole } from "@/lib/contract/access/me";
import { keyPermissions, keyPermissionsOf } from "@/lib/contract/access/permissions";
import { parseDecimal, toText } from "@/lib/decimal";
import { type Issue, validationFailed } from "@/lib/errors";
import { canonicalRange } from "@/lib/ip-range";
import type { KeyConditions, StoredSource } from "@/lib/keys/api-key";
import { hasProject, type KeyColumns } from "./key-queries";

/** The workspace and the role of the member who makes the request, and its time (ms since 1970). */
type Asker = { workspaceId: string; role: WorkspaceRole; now: number };

/**
 * Validates the changes of a key and converts them to columns: lists are sorted, addresses canonical, and conditions
 * merged into the present ones.
 * @throws ServiceError validation_failed with all problems, each with its path in the request
 */
export async function readChanges(
  client: ClientBase,
  asker: Asker,
  request: EditApiKeyRequest,
  current: { conditions: KeyConditions; source: StoredSource | null },
): Promise<Partial<KeyColumns>> {
  const ranges = request.allowed_cidrs?.map((text) => canonicalRange(text)) ?? [];
  const issues = [
    ...checkPermissions(request, asker.role),
    ...(await checkProject(client, asker.workspaceId, request)),
    ...checkExpiry(request, asker.now),
    ...ranges.flatMap((range, index) =>
      range === undefined
        ? [
            {
              path: `allowed_cidrs.${index}`,
              message: "must be an address or a CIDR range, like 203.0.113.0/24",
            },
          ]
        : [],
    ),
  ];
  if (issues.length > 0) throw validationFailed(issues);
  const { name, project_id, monthly_limit: limit, on_limit, expires_at, rate_limit_rpm } = request;
  const given: { [Column in keyof KeyColumns]: KeyColumns[Column] | undefined } = {
    name,
    permissions: request.permissions && keyPermissions.filter((each) => request.permissions?.includes(each)),
    project_id,
    conditions:
      request.conditions === undefined ? undefined : mergeConditions(current.conditions, request.conditions),
    monthly_limit: typeof limit === "string" ? toText(parseDecimal(limit)) : limit,
    ...(request.raise === null && { raised_limit: null, raised_until: null }),
    on_limit,
    expires_at,
    rate_limit_rpm,
    allowed_cidrs:
      request.allowed_cidrs === undefined
        ? undefined
        : [...new Set(ranges.filter((range) => range !== undefined))],
    source_settings: request.source === undefined ? undefined : mergeSource(current.source, request.source),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** Applies a merge patch (RFC 7396): an omitted condition stays; null or an empty list removes it. */
function mergeConditions(current: KeyConditions, change: EditApiKeyRequest["conditions"]): KeyConditions {
  if (!change) return {};
  const given = Object.entries(change).filter(([, list]) => list !== undefined);
  const merged = Object.entries({ ...current, ...Object.fromEntries(given) });
  return Object.fromEntries(merged.filter(([, list]) => list?.length));
}

/** Applies a merge patch to the settings of a source. Only what is set is stored. */
function mergeSource(
  current: StoredSource | null,
  change: NonNullable<EditApiKeyRequest["source"]> | null,
): StoredSource | null {
  if (change === null) return null;
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  const merged = Object.entries({ ...current, ...Object.fromEntries(given) });
  return Object.fromEntries(
    merged.filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0)),
  );
}

function checkPermissions({ permissions: wanted = [] }: EditApiKeyRequest, role: WorkspaceRole): Issue[] {
  return wanted.flatMap((permission, index) =>
    keyPermissionsOf(role).includes(permission)
      ? []
      : [{ path: `permissions.${index}`, message: `is not among the permissions of your role, ${role}` }],
  );
}

function checkExpiry({ expires_at: end }: EditApiKeyRequest, now: number): Issue[] {
  return end && Date.parse(end) <= now ? [{ path: "expires_at", message: "must be in the future" }] : [];
}

/**
 * The project that a key is bound to must exist. The slugs in its lists need not: they apply as soon as a first message
 * creates the project.
 */
async function checkProject(
  client: ClientBase,
  workspaceId: string,
  { project_id: id }: EditApiKeyRequest,
): Promise<Issue[]> {
  if (!id || (await hasProject(client, workspaceId, id))) return [];
  return [{ path: "project_id", message: "must be a project of this workspace" }];
}
