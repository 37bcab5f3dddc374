/* jobs.cpp - a job system sorts with its own threads, so the library makes none. The job system is
 * TBB here; link it by -ltbb. */
#include <recsort/recsort.hpp>

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <atomic>
#include <cstdint>
#include <iostream>
#include <vector>

struct particle {
  float depth;
  std::uint32_t id;
};

struct job_system {
  tbb::task_arena arena{4}; /* so many threads, of which the caller is one */
  std::atomic<std::size_t> tasks{0};

  /* Calls `task` once for each number below `count`, and returns when all calls have. */
  static void run(void *self, void (*task)(void *, std::size_t), void *argument, std::size_t count)
  {
    auto &jobs = *static_cast<job_system *>(self);
    jobs.arena.execute([&] {
      tbb::parallel_for(std::size_t{0}, count, [&](std::size_t number) {
        task(argument, number);
        jobs.tasks++;
      });
    });
  }
};

int main()
{
  job_system jobs;
  recsort_executor executor = {};
  executor.struct_size = sizeof executor;
  executor.context = &jobs;
  executor.run = job_system::run;
  executor.threads = static_cast<unsigned>(jobs.arena.max_concurrency());
  recsort_options options = RECSORT_OPTIONS_INIT;
  options.executor = &executor; /* read by each sort, so it lives as long as the sorter */
  recsort::sorter<particle> by({recsort::desc(&particle::depth)}, options);

  std::vector<particle> particles(200000);
  for (std::uint32_t i = 0; i < particles.size(); i++)
    particles[i] = {static_cast<float>(i * 7919 % 1000), i}; /* 200 of each depth */
  by.sort(particles);

  std::size_t wrong = 0;
  for (std::size_t i = 1; i < particles.size(); i++) {
    const particle &a = particles[i - 1], &b = particles[i];
    wrong += a.depth < b.depth || (a.depth == b.depth && a.id > b.id);
  }
  std::cout << wrong << " of " << particles.size() << " out of order, "
            << (jobs.tasks > 0 ? "sorted" : "not sorted") << " by tasks\n";
  return wrong > 0;
}
