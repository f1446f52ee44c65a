/** The service that runs with DATA_DIR, else with a folder of a service or a demo here; null when none runs. */
export declare function findRunningService(
  env: NodeJS.ProcessEnv,
): { dataDir: string; url: string; operatorUrl: string } | null;
