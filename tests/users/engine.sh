# In a game's tree: copies recsort.c and its headers, sorts what is drawn in a loop, and the components of an ECS.
get gcc g++ libc6-dev
mkdir vendor
tar -xf /release/recsort-$VERSION-amalgamation.tar.gz -C vendor --strip-components=1
cp vendor/recsort.h vendor/recsort.hpp vendor/recsort.c .
cat > game.cpp << 'END_OF_PROGRAM'
#include "recsort.hpp"

#include <cassert>
#include <cstdint>
#include <vector>

struct sprite {
  float x, y, z;
  std::uint32_t id;
};

int main()
{
  std::vector<sprite> sprites;
  for (std::uint32_t i = 0; i < 5000; i++)
    sprites.push_back({float(i * 37 % 100), float(i * 11 % 50), float(i % 7), i});
  recsort::sorter<sprite> by({recsort::desc(recsort::dot("forward", &sprite::x, &sprite::y, &sprite::z))});
  for (int frame = 0; frame < 100; frame++) {
    const double forward[3] = {1.0, frame / 50.0 - 1.0, 0.25};
    by.set_parameter("forward", forward);
    by.sort(sprites);
    const auto depth = [&](const sprite &s) { return float(s.x * forward[0] + s.y * forward[1] + s.z * forward[2]); };
    for (std::size_t i = 1; i < sprites.size(); i++)
      assert(depth(sprites[i - 1]) >= depth(sprites[i]));
  }
}
END_OF_PROGRAM
cc -O2 -Wall -Wextra -Werror -c recsort.c
c++ -O2 -std=c++17 -Wall -Wextra -Werror game.cpp recsort.o -pthread -o game
./game
tar -xf /release/recsort-$VERSION.tar.gz -C /home --wildcards '*/docs/examples/*'
mkdir recsort && cp recsort.h recsort.hpp recsort
c++ -O2 -std=c++17 -I. /home/recsort-$VERSION/docs/examples/ecs.cpp recsort.o -pthread -o ecs
./ecs > lines
[ "$(wc -l < lines)" = 2 ]
