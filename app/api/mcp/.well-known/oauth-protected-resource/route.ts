import { resourceMetadata } from "@/lib/http/oauth-metadata";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = resourceMetadata;
