/** A bug that is added to the code when it is loaded. The simulator must find it, or the tests of one file. */
export type PlantedBug = {
  name: string;
  changes: { file: string; find: string; replace: string }[];
  /** The file whose tests find it. */
  test?: string;
};
