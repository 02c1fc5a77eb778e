/** Which shard of which execution: the identity every statement about a shard carries. */
export interface ShardKey {
  readonly jobId: number;
  readonly fireTime: Date;
  /** 0 to count − 1; −1 is the step that freezes the input. */
  readonly shardNo: number;
}

/** A shard as one claim of it: a write with an older token is refused. */
export interface FencedShard extends ShardKey {
  readonly fenceToken: number;
}

/** One string for one claim, for maps and sets. */
export function claimKey(shard: FencedShard): string {
  return `${shard.jobId}/${shard.fireTime.getTime()}/${shard.shardNo}/${shard.fenceToken}`;
}
