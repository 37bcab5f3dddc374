// serve.h - how a program that recbench starts talks to it: recbench writes commands, one a line
// with tabs between the words; the answer is a line of JSON, which is {"error": TEXT} if the
// command failed. Every program knows
//
//   about                                  the build and the machine
//   input SLOT ...                         makes an input; an answer names its contenders, if the
//                                          program knows better than recbench who can sort it
//   run SLOT CONTENDER ...                 runs one once, checks the result, and answers with its
//                                          figures: the seconds are "wall"
//   clear                                  frees all inputs
#ifndef BENCH_SERVE_H
#define BENCH_SERVE_H

#include <cjson/cJSON.h>
#include <iostream>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

using Words = std::vector<std::string>;
using Commands = std::map<std::string, void (*)(const Words &, cJSON *)>;

[[noreturn]] inline void fail(const std::string &text)
{
  throw std::runtime_error(text);
}

// What a command answers.
class Answer
{
public:
  Answer(const Commands &commands, const std::string &line)
  {
    Words words;
    for (size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
      end = line.find('\t', begin); // the last words may be empty
      words.push_back(line.substr(begin, end - begin));
    }
    try {
      commands.at(words[0])(words, json_.get());
    } catch (const std::bad_alloc &) {
      cJSON_AddStringToObject(json_.get(), "error", "out of memory");
    } catch (const std::exception &problem) {
      cJSON_AddStringToObject(json_.get(), "error", problem.what());
    }
  }
  [[nodiscard]] bool failed() const
  {
    return cJSON_HasObjectItem(json_.get(), "error");
  }
  [[nodiscard]] std::string text() const
  {
    char *const made = cJSON_PrintUnformatted(json_.get());
    std::string text = made;
    cJSON_free(made);
    return text;
  }

private:
  std::unique_ptr<cJSON, decltype(&cJSON_Delete)> json_{cJSON_CreateObject(), cJSON_Delete};
};

inline void serve(const Commands &commands)
{
  for (std::string line; std::getline(std::cin, line);)
    std::cout << Answer(commands, line).text() << std::endl;
}

#endif
