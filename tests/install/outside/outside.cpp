// outside.cpp - the same in C++, with a schema built by calls.
#include <recsort/recsort.h>

#include <iostream>
#include <vector>

struct item {
  std::int32_t price;
  char name[4];
};

int main()
{
  recsort_field_desc price = {};
  price.name = "price";
  price.type = RECSORT_INT32;
  price.offset = RECSORT_NO_OFFSET;
  recsort_field_desc name = price;
  name.name = "name";
  name.type = RECSORT_CHAR;
  name.size = sizeof(item::name);
  const recsort_field_desc fields[] = {price, name};
  recsort_key_desc key = {};
  key.path = "price";
  key.order = RECSORT_DESCENDING;
  recsort_schema_desc desc = RECSORT_SCHEMA_DESC_INIT;
  desc.record = "item";
  desc.fields = fields;
  desc.field_count = 2;
  desc.keys = &key;
  desc.key_count = 1;

  std::vector<item> items = {{3, "c"}, {-1, "e"}, {7, "a"}, {3, "d"}, {7, "b"}};
  recsort_schema *schema = nullptr;
  recsort_sorter *sorter = nullptr;
  recsort_error error;
  recsort_status status = recsort_schema_create(&desc, nullptr, &schema, &error);
  if (!status) status = recsort_sorter_create(schema, nullptr, &sorter, &error);
  if (!status) status = recsort_sort(sorter, items.data(), items.size(), &error);
  recsort_sorter_destroy(sorter);
  recsort_schema_destroy(schema);
  if (status) {
    std::cerr << error.text << '\n';
    return 1;
  }
  for (const item &one : items)
    std::cout << one.name;
  std::cout << '\n';
}
