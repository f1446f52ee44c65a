/** The folder with the bundled service of the project at `root`; its programs are those of bin/entry-points.json. */
export declare function prepareBundle(root: string): string;

/** Bundles the service for an image: its programs read the files of the project where they are. */
export declare function prepareInPlace(root: string): void;

/** Writes a bundle of the service, and of these modules by name, into the folder, without npm packages. */
export declare function writePublished(root: string, outdir: string, morePrograms: Record<string, string>): void;

/** The npm packages that stay outside the bundle. */
export declare const NOT_BUNDLED: readonly string[];
