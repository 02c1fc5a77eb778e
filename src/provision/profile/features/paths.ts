/** Where things of ours are on a host. One place, because several features and the deployment agree on them. */
export const paths = {
  /** A link to the version in use; holds `node` and `escapement.mjs`. */
  current: "/opt/escapement/current",
  configuration: "/etc/escapement",
  clusterFile: "/etc/escapement/cluster.yaml",
  storeUrl: "/etc/escapement/store-url",
  jobUsers: "/etc/escapement/job-users",
  state: "/var/lib/escapement",
} as const;

/** The group that may read the configuration; the scheduler and the watchman run as the user of that name. */
export const toolkitUser = "escapement";
/** Unprivileged: jobs run as users of the root-owned list. */
export const executorUser = "escapement-executor";
/** Runs the jobs that name no user. */
export const jobUser = "escapement-job";
export const jobsSlice = "escapement-jobs.slice";
