/** Where old job logs go: a folder or an S3-compatible store. */

/** A compressed log on this host's disk, about to be stored. */
export interface ArchiveItem {
  /** Path below the archive's root, with `/` between the parts. */
  readonly key: string;
  /** The compressed file. */
  readonly file: string;
  readonly sizeBytes: number;
  /** Lower-case hex, of the compressed file. */
  readonly sha256: string;
}

export interface LogArchive {
  /** Shown to people: no credentials in it. */
  readonly place: string;
  /**
   * Stores the item and makes sure that it is there, whole. Storing it again is harmless.
   * @throws E_LOG_ARCHIVE
   */
  store(item: ArchiveItem): Promise<void>;
  /**
   * Removes what was written before `before`; `null` where the archive does that by itself.
   * @returns how many files
   */
  prune(before: Date): Promise<number | null>;
}
