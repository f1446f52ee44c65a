/** Fetches Debian packages, and those they need that are not in `status`, into `making`/cache/archives. */
export declare function download(packages: string[], making: string, status?: string): Promise<void>;

/** A script that starts the program of its name in ../root/usr/bin with the libraries of ../lib. */
export declare const STARTER: string;
