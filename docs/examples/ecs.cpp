/* ecs.cpp - an entity-component system: components lie in arrays of their own, and one permutation
 * orders all of them, here by layer and then far to near along the camera's axis. */
#include <recsort/recsort.hpp>

#include <cstdint>
#include <iostream>
#include <vector>

struct position {
  float x, y, z;
};
struct sprite {
  std::uint16_t image;
  std::uint8_t layer;
};

struct world {
  std::vector<std::uint32_t> entities; /* the entity at each place */
  std::vector<std::uint32_t> places;   /* the place of each entity */
  std::vector<position> positions;     /* by place, and so are all components */
  std::vector<sprite> sprites;

  void add(position at, sprite look)
  {
    places.push_back(static_cast<std::uint32_t>(entities.size()));
    entities.push_back(places.back());
    positions.push_back(at);
    sprites.push_back(look);
  }
};

/* The components that have keys, as if they were one record. */
struct drawn {
  position at;
  sprite look;
};

class draw_order
{
public:
  void sort(world &all, const double (&forward)[3])
  {
    by_.set_parameter("forward", forward);
    by_.run(
        by_.from({by_.column(all.positions, &drawn::at), by_.column(all.sprites, &drawn::look)}));
    by_.apply(all.positions); /* of any number of arrays, with keys or without */
    by_.apply(all.sprites);
    by_.apply(all.entities);
    for (std::uint32_t place = 0; place < all.entities.size(); place++)
      all.places[all.entities[place]] = place;
  }

private:
  recsort::sorter<drawn> by_{
      {recsort::asc(&drawn::look, &sprite::layer),
       recsort::desc(recsort::dot("forward", recsort::member(&drawn::at, &position::x),
                                  recsort::member(&drawn::at, &position::y),
                                  recsort::member(&drawn::at, &position::z)))}};
};

int main()
{
  world all;
  draw_order order; /* one for all frames: it keeps its memory */
  all.add({0, 0, 1}, {10, 1});
  all.add({0, 0, 5}, {11, 0});
  all.add({4, 0, 2}, {12, 1});
  all.add({9, 9, 5}, {13, 0}); /* as deep as entity 1 along z */
  all.add({0, 0, 7}, {14, 0});
  for (const double forward : {1, -1}) { /* two frames: the camera turns round */
    order.sort(all, {0, 0, forward});
    for (std::size_t i = 0; i < all.entities.size(); i++)
      std::cout << all.entities[i] << ':' << all.sprites[i].image << ' ';
    std::cout << "entity 2 is at place " << all.places[2] << '\n';
  }
}
