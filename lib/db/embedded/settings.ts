/**
 * The settings of the embedded Postgres. Given on its command line, so that every start has the settings of the
 * version that starts it. Durability is always on: an acknowledged cost survives any crash.
 */
export const settings: Record<string, string> = {
  listen_addresses: "127.0.0.1",
  // A socket's path would be too long in a deep folder, and everybody can write to /tmp.
  unix_socket_directories: "",
  password_encryption: "scram-sha-256",
  fsync: "on",
  full_page_writes: "on",
  synchronous_commit: "on",
  max_connections: "100",
  shared_buffers: "128MB",
  effective_cache_size: "512MB",
  work_mem: "8MB",
  maintenance_work_mem: "64MB",
  // Compiling a plan costs more than the short statements of this service take.
  jit: "off",
  timezone: "UTC",
  log_timezone: "UTC",
  lc_messages: "C",
  log_line_prefix: "%m [%p] %q%u@%d ",
  // A client that vanished inside a transaction must not hold its locks for ever.
  idle_in_transaction_session_timeout: "60s",
};
