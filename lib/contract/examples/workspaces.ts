import type { ExampleSet } from "./example-set";

const workspace = {
  id: "c1f4a7de-52b3-4d8e-9b0f-6a1d2e3f4b5c",
  name: "Acme",
  slug: "acme",
  type: "team",
  description: "What Acme's product teams spend.",
  base_currency: "EUR",
  time_zone: "Europe/Berlin",
  next_time_zone: null,
  require_mfa: false,
  role: "owner",
};

const ada = {
  user_id: "5f0c2f5e-7c1e-4f5b-9a53-0d6a3a1c9b11",
  role: "owner",
  display_name: "Ada Lovelace",
  email: "ada@example.com",
  avatar_url: null,
  joined_at: "2026-11-02T08:15:00.000+00:00",
};

const grace = {
  user_id: "8a2d4c1b-93e5-4f70-8d16-7b9e0c5a2f43",
  role: "member",
  display_name: "Grace Hopper",
  email: "grace@example.com",
  avatar_url: "https://example.com/grace.png",
  joined_at: "2026-11-03T10:00:00.000+00:00",
};

const invitation = {
  id: "019b0a57-3c11-7d42-9a3e-5f6b7c8d9e01",
  role: "viewer",
  email: "grace@example.com",
  invited_by: { user_id: ada.user_id, display_name: ada.display_name, email: ada.email },
  created_at: "2026-11-20T09:00:00.000+00:00",
  expires_at: "2026-11-27T09:00:00.000+00:00",
  expired: false,
};

const project = {
  id: "3d7c9b1a-4e82-4f6d-a05b-c8e1f2a3b4d5",
  slug: "checkout",
  name: "Checkout",
  archived_at: null,
  created_at: "2026-11-02T08:20:00.000+00:00",
  month_usd: 812.4375,
  month_message_count: 18_204,
  message_count: 18_204,
  last_activity_on: "2026-11-21",
};

/** Workspaces, their members, invitations, projects and log. */
export const workspaceExamples: ExampleSet = {
  requests: {
    CreateWorkspaceRequest: {
      team: { value: { name: "Acme", base_currency: "EUR", description: workspace.description } },
    },
    UpdateWorkspaceRequest: { rename: { value: { name: "Acme Research" } } },
    DeleteWorkspaceRequest: { confirm: { value: { name: "Acme" } } },
    DeleteAccountRequest: { confirm: { value: { email: "ada@example.com" } } },
    ChangeMemberRequest: { promote: { value: { role: "admin" } } },
    TransferRequest: { transfer: { value: { user_id: grace.user_id } } },
    CreateInvitationRequest: {
      anybody: { summary: "Anyone with the link", value: { role: "member" } },
      bound: {
        summary: "One address alone",
        value: { role: "viewer", email: "grace@example.com", expires_in_days: 3 },
      },
    },
    UpdateProjectRequest: {
      rename: { value: { name: "Checkout (EU)" } },
      archive: { value: { archived: true } },
    },
    UpdateMeRequest: { name: { value: { display_name: "Ada Lovelace" } } },
  },
  responses: {
    Membership: workspace,
    DeletedAccount: {
      deleted_at: "2026-11-22T18:00:00.000+00:00",
      erased_at: "2026-12-22T18:00:00.000+00:00",
    },
    AccountExport: {
      profile: { id: ada.user_id, email: ada.email, display_name: ada.display_name },
      identities: [{ provider: "email", email: ada.email, created_at: "2026-11-02T08:15:00+00:00" }],
      second_factors: [],
      sessions: [{ id: "0f9d8c7b-6a5e-4d3c-8b2a-1f0e9d8c7b6a", created_at: "2026-11-22T08:00:00+00:00" }],
      memberships: [{ slug: "acme", name: "Acme", role: "owner" }],
      connections: [],
      slack_users: [],
      audit: [{ action: "workspace.changed", at: "2026-11-21T09:30:00+00:00" }],
    },
    DeletedWorkspace: {
      slug: "acme",
      name: "Acme",
      role: "owner",
      deleted_at: "2026-11-22T18:00:00.000+00:00",
      deleted_by: "Ada Lovelace",
      erased_at: "2026-12-22T18:00:00.000+00:00",
    },
    Organization: {
      workspace,
      members: [ada, grace],
      counts: { members: 2, projects: 4, api_keys: 3, budgets: 1, connections: 1 },
    },
    Member: { ...grace, role: "admin" },
    TransferResult: { owner: { ...grace, role: "owner" }, former_owner: { ...ada, role: "admin" } },
    Invitation: invitation,
    InvitationList: { invitations: [invitation] },
    CreatedInvitation: {
      invitation,
      link: "https://outlay.example.com/invite/mJ3vT0cB9yQk2LxW7nRz5aHs8dUf1gPe4oIt6bVqXwY",
    },
    InvitationOffer: {
      workspace: { name: "Acme" },
      role: "viewer",
      invited_by: "Ada Lovelace",
      email: "grace@example.com",
      expires_at: invitation.expires_at,
      is_for_you: true,
      already_member: false,
    },
    Project: project,
    ProjectList: { projects: [project] },
    AuditList: {
      entries: [
        {
          id: "b7d1e9c2-6f34-4a85-9c07-1e2d3f4a5b6c",
          at: "2026-11-21T09:30:00.000+00:00",
          actor: { user_id: ada.user_id, email: ada.email, display_name: ada.display_name },
          key: null,
          action: "member.changed",
          subject: { kind: "member", id: grace.user_id },
          before: { user_id: grace.user_id, email: grace.email, role: "viewer" },
          after: { user_id: grace.user_id, email: grace.email, role: "member" },
          address: "203.0.113.7",
        },
      ],
      next_cursor: null,
    },
  },
};
