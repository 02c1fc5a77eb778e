/** What one running shard of a workload's line takes of a machine. */
import type { WorkloadJob } from "../../spec/workload-schema.ts";
import type { ShardNeed } from "./concurrency.ts";
import { type MemoryParts, peakOf } from "./memory.ts";

export function memoryParts({ memory }: WorkloadJob): MemoryParts {
  return {
    heapBytes: memory.heap,
    offHeapBytes: memory.offHeap,
    pageCacheBytes: memory.pageCache,
    othersBytes: memory.others,
    peakBytes: memory.peak,
  };
}

export function needOf(job: WorkloadJob): ShardNeed {
  return {
    class: job.class,
    cores: job.coresPerShard,
    peakBytes: peakOf(memoryParts(job)).bytes,
    iops: job.iopsPerShard,
    networkBytes: job.networkPerShard ?? 0,
  };
}
