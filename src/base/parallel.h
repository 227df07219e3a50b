#pragma once

#include "base/index.h"

#include <functional>

namespace sdpa {

/// Processors this process may run on (its affinity mask), at least 1.
int available_processors();

/// Calls task(0) ... task(count - 1), each once, on up to `threads` threads; the next free thread
/// takes the next index. The calling thread works too, so one thread or one task needs no other.
/// Others are started when they are first needed and stay for later calls; where the system gives
/// no more threads, fewer do the work.
///
/// The first exception a task throws is thrown again here, after all threads have stopped; tasks
/// not yet begun are then left out.
void parallel_for(int threads, Index count, const std::function<void(Index)>& task);

}  // namespace sdpa
